// The router: #/page/part/part?key=value. A page draws itself and returns what to do when it is left.

import { fill, h, toast } from "./dom.js";
import { waitDots } from "./waiting.js";

const PAGES = {
  "": () => import("./pages/home.js"),
  play: () => import("./pages/play.js"),
  hands: () => import("./pages/hands.js"),
  solve: () => import("./pages/solve.js"),
  reports: () => import("./pages/reports.js"),
  preflop: () => import("./pages/preflop.js"),
  compare: () => import("./pages/compare.js"),
  learn: () => import("./pages/learn.js"),
  runs: () => import("./pages/runs.js"),
};

// pages without a link of their own in the header
const PART_OF = { reports: "solve", compare: "solve", preflop: "solve" };

const main = document.getElementById("main");
let current = { page: null, leave: null, update: null };
let turn = 0;

function parts() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { page, rest, query: new URLSearchParams(query) };
}

async function show() {
  const mine = ++turn;
  const { page, rest, query } = parts();
  markLink(page);
  if (current.page === page && (await isUpdated(rest, query))) return;
  current.leave?.();
  current = { page, leave: null, update: null };
  if (!PAGES[page]) {
    say("Nothing here", "There is no such page.", h("a", { href: "#/" }, "Home"));
    return;
  }
  try {
    await open(page, rest, query, mine);
  } catch (error) {
    toast(error.message, "error");
    say("That did not work", error.message, h("a", { href: `#/${page}` }, "Back"));
  }
}

// whether the page that is open has gone there itself; if that is refused, it says so and stays
async function isUpdated(rest, query) {
  try {
    return await current.update?.(rest, query);
  } catch (error) {
    toast(error.message, "error");
    return true;
  }
}

async function open(page, rest, query, mine) {
  const module = await PAGES[page]();
  if (mine !== turn) return;
  const root = h("div", { class: `page page-${page || "home"}` });
  fill(main, root);
  window.scrollTo(0, 0);
  const drawn = await withNote(root, module.render(root, rest, query));
  if (mine === turn) current = { page, ...drawn };
  else drawn.leave?.();
}

// what a page comes to; if it is still empty after a moment, a note says that something is under way
async function withNote(root, rendering) {
  const note = h("p", { class: "opening", role: "status" }, "One moment ", waitDots());
  const timer = setTimeout(() => root.childElementCount || main.append(note), 400);
  try {
    return await rendering;
  } finally {
    clearTimeout(timer);
    note.remove();
  }
}

function markLink(page) {
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.getAttribute("href") === `#/${PART_OF[page] ?? page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function say(title, text, link) {
  fill(main, h("div", { class: "empty" }, h("h1", {}, title), h("p", {}, text), link));
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

window.addEventListener("hashchange", show);
show();
