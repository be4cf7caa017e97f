// The router: #/page/part/part?key=value. A page draws itself and returns what to do when it is left.

import { fill, h, toast } from "./dom.js";

const PAGES = {
  "": () => import("./pages/home.js"),
  play: () => import("./pages/play.js"),
  solve: () => import("./pages/solve.js"),
  learn: () => import("./pages/learn.js"),
  runs: () => import("./pages/runs.js"),
};

const main = document.getElementById("main");
let current = { page: null, leave: null, update: null };
let turn = 0;

export function parts() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { page, rest, query: new URLSearchParams(query) };
}

async function show() {
  const mine = ++turn;
  const { page, rest, query } = parts();
  for (const link of document.querySelectorAll("header nav a")) {
    const active = link.getAttribute("href") === `#/${page}`;
    if (active) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current.page === page && current.update && (await current.update(rest, query))) return;
  current.leave?.();
  current = { page, leave: null, update: null };
  const load = PAGES[page];
  if (!load) {
    fill(main, h("div", { class: "empty" }, h("h1", {}, "Nothing here"), h("p", {}, "There is no such page."), h("a", { href: "#/" }, "Home")));
    return;
  }
  try {
    const module = await load();
    if (mine !== turn) return;
    const root = h("div", { class: `page page-${page || "home"}` });
    fill(main, root);
    window.scrollTo(0, 0);
    const drawn = await module.render(root, rest, query);
    if (mine === turn) current = { page, ...drawn };
    else drawn.leave?.();
  } catch (error) {
    toast(error.message, "error");
    fill(main, h("div", { class: "empty" }, h("h1", {}, "That did not work"), h("p", {}, error.message), h("a", { href: `#/${page}` }, "Back")));
  }
}

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

window.addEventListener("hashchange", show);
show();
