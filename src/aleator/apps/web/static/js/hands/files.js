// Hands of one's own: a file is dropped, a player chosen, and each decision graded by search.

import { api, watchJob } from "../api.js";
import { attempt, button, choices, fact, fill, h, muted, panel, small, tag, titleRow } from "../dom.js";
import { redrawPage, unitChoice } from "../units.js";
import { waitDots } from "../waiting.js";
import { decisionItem } from "./grades.js";
import { openSpotOf } from "./spots.js";

const KINDS = ".phh,.phhs,.log,.txt,.jsonl";
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
      const player = ([name, count]) =>
        button([name, h("small", {}, ` ${handsText(count)}`)], () => start(file, name), { class: "chip player" });
      fill(
        told,
        h("p", {}, `${handsText(found.hands)}. Whose decisions should be graded?`),
        h("p", { class: "row" }, found.players.map(player)),
        problemList(found.problems),
      );
    });
    if (isRead) told.scrollIntoView({ block: "nearest" });
    else fill(told);
  }

  const start = (file, player) => attempt(async () => onjob(await api.gradeHands(file.name, player, file)));
  return { element: panel("", h("h2", {}, "Bring your own hands"), box, told), leave };
}

const handsText = (count) => (count === 1 ? "1 hand" : `${count.toLocaleString("en")} hands`);

// listens to events of the window; returns what ends that
function listen(listeners) {
  const all = Object.entries(listeners);
  for (const [name, listener] of all) window.addEventListener(name, listener);
  return () => all.forEach(([name, listener]) => window.removeEventListener(name, listener));
}

const problemList = (problems) =>
  problems.length > 0 &&
  h(
    "details",
    {},
    h("summary", {}, `${problems.length} ${problems.length === 1 ? "hand" : "hands"} could not be used`),
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
  const each = hands ? (1000 * lost) / hands : 0;
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
        fact("Given up by mistakes", `${lost.toFixed(2)} bb`),
        fact("Per hand", `${each.toFixed(0)} mbb`),
      ),
      problemList(problems),
      small("The costliest come first. In hands of several players, the blueprint of six plays until two are left."),
      without && small(without),
    ),
    h("p", { class: "row" }, streets, h("label", { class: "row" }, only, "Mistakes only"), unitChoice(redrawPage)),
    list,
  ];
}
