// Hands of one's own: a file is dropped, a player chosen, and each decision graded by search.

import { api, watchJob } from "../api.js";
import { attempt, button, choices, fact, fill, h, muted, panel, small, tag, titleRow } from "../dom.js";
import { chips } from "../format.js";
import { redrawPage, unitChoice } from "../units.js";
import { waitDots } from "../waiting.js";
import { decisionItem } from "./grades.js";
import { openSpotOf } from "./spots.js";

const KINDS = ".phh,.phhs,.log,.txt,.jsonl";
const READ =
  "Hands are read from PHH (.phh, .phhs), ACPC logs (.log), the text that PokerStars writes (.txt) and Aleator's own " +
  "files (.jsonl).";
const STREETS = [
  ["", "All streets"],
  ["preflop", "Preflop"],
  ["flop", "Flop"],
  ["turn", "Turn"],
  ["river", "River"],
];

// a file may be dropped anywhere on the page; `leave` says what to do when the page is left
export function dropPanel(onjob) {
  const told = h("div", { class: "after", "aria-live": "polite" });
  const input = h("input", { type: "file", accept: KINDS, hidden: true, onchange: () => take(input.files[0]) });
  const box = h(
    "div",
    { class: "drop" },
    h("b", {}, "Drop a file of hands anywhere on this page"),
    muted("PHH, ACPC logs, PokerStars' text. Nothing leaves this machine."),
    button("Choose a file", () => input.click()),
    input,
  );
  const mark = (isOver) => box.classList.toggle("over", isOver);
  const leave = listen({
    dragover: (event) => {
      event.preventDefault();
      mark(true);
    },
    dragleave: () => mark(false),
    drop: (event) => {
      event.preventDefault();
      mark(false);
      take(event.dataTransfer.files[0]);
    },
  });

  async function take(file) {
    if (!file) return;
    fill(told, muted(`Reading ${file.name} `, waitDots()));
    told.scrollIntoView({ block: "nearest" });
    const isRead = await attempt(async () => {
      const found = await api.readHands(file.name, file);
      fill(
        told,
        foundInFile(file.name, found, (name) => start(file, name)),
      );
    });
    if (isRead) told.scrollIntoView({ block: "nearest" });
    else fill(told);
    told.querySelector(".player.primary")?.focus();
  }

  const start = (file, player) => attempt(async () => onjob(await api.gradeHands(file.name, player, file)));
  return { element: panel("", h("h2", {}, "Bring your own hands"), box, told), leave };
}

// what a file has: its players to choose from, the hero of the file first, or what can be read if it has no hands
export function foundInFile(file, { hands, players, hero, problems }, onplayer) {
  if (!hands) return [h("p", {}, `No hands were found in ${file}. ${READ}`), problemList(problems, "What was found")];
  const player = ([name, count]) =>
    button([name, h("small", {}, ` ${handsText(count)}`)], () => onplayer(name), {
      class: `chip player ${name === hero ? "primary" : ""}`,
    });
  const told = hero ? ` The file shows the cards of ${hero}.` : "";
  return [
    h("p", {}, `${handsText(hands)}.${told} Whose decisions should be graded?`),
    h("p", { class: "row" }, players.map(player)),
    problemList(problems),
  ];
}

const handsText = (count) => (count === 1 ? "1 hand" : `${count.toLocaleString("en")} hands`);

// listens to events of the window; returns what ends that
function listen(listeners) {
  const all = Object.entries(listeners);
  for (const [name, listener] of all) window.addEventListener(name, listener);
  return () => all.forEach(([name, listener]) => window.removeEventListener(name, listener));
}

const problemList = (problems, title = `${handsText(problems.length)} could not be used`) =>
  problems.length > 0 &&
  h(
    "details",
    {},
    h("summary", {}, title),
    h(
      "ul",
      { class: "small" },
      problems.map((text) => h("li", {}, text)),
    ),
  );

// a file that is being graded, then what was found; returns what to do when it is left
export function showGrading(root, job) {
  const box = h("section", { class: "after" });
  const back = h("a", { class: "go-back", href: "#/hands", "aria-label": "All hands" }, "‹");
  fill(root, titleRow(back, h("h1", {}, job.name)), box);
  if (job.status === "done") {
    fill(box, gradedPanels(job));
    return () => {};
  }
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Graded" });
  const text = h("span", {}, "Waiting ");
  const worst = h("div", { class: "after grades" });
  const stop = button("Stop here", () => attempt(() => api.stop(job.id)));
  fill(box, panel("", bar, h("p", { class: "row" }, h("span", { class: "muted" }, text, waitDots()), stop)), worst);
  const onprogress = ({ last }) => {
    if (!last?.hands) return;
    bar.value = last.hand / last.hands;
    text.textContent = `Hand ${last.hand + 1} of ${last.hands}, ${last.decisions} decisions graded `;
    const found = last.worst ?? [];
    fill(
      worst,
      found.length > 0 && h("h2", {}, "Mistakes so far"),
      found.map((one) => decisionItem(one)),
    );
  };
  const onend = (ended) =>
    fill(box, ended.status === "done" ? gradedPanels(ended) : muted(ended.error ?? "Cancelled."));
  return watchJob(job.id, onprogress, onend);
}

// the decisions that pass a filter, in their order
export function filtered(decisions, { street, mistakes }) {
  return decisions.filter((one) => (!street || one.street === street) && (!mistakes || one.mistake));
}

// what mistakes cost, in all and per hand, in big blinds as with each decision
export const lostFacts = (lost, hands) => [
  fact("Given up by mistakes", `${chips(lost)} bb`),
  fact("Per hand", `${chips(hands ? lost / hands : 0)} bb`),
];

function gradedPanels({ id, summary }) {
  const { decisions, problems, note, without, player, hands, given_up: lost, mistakes } = summary;
  const filter = { street: "", mistakes: false };
  const list = h("div", { class: "after grades graded" });
  const item = (decision) => {
    const link = h("a", { href: `#/hands/file/${id}/${decision.record}` }, "The whole hand");
    return decisionItem(decision, { link, openSpot: () => openSpotOf({ job: id }, decision) });
  };
  const draw = () => {
    const shown = filtered(decisions, filter).slice(0, 200);
    fill(
      list,
      shown.length ? shown.map(item) : muted(decisions.length ? "No such decision." : "No decision was graded."),
    );
  };
  const streets = choices("Street", STREETS, "", (street) => {
    filter.street = street;
    draw();
  });
  const only = h("input", {
    type: "checkbox",
    onchange: () => {
      filter.mistakes = only.checked;
      draw();
    },
  });
  draw();
  return [
    panel(
      "",
      titleRow(
        h("h2", {}, player),
        tag(`${mistakes} ${mistakes === 1 ? "mistake" : "mistakes"}`, mistakes ? "warn" : "good"),
        note && tag(note),
      ),
      h(
        "dl",
        { class: "facts wide" },
        fact("Hands", hands),
        fact("Decisions", decisions.length),
        lostFacts(lost, hands),
      ),
      problemList(problems),
      small("The costliest come first. In hands of several players, the blueprint of six plays until two are left."),
      without && small(without),
    ),
    h("p", { class: "row" }, streets, h("label", { class: "row" }, only, "Mistakes only"), unitChoice(redrawPage)),
    list,
  ];
}
