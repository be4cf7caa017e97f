// Hands of one's own: a file is dropped, a player chosen, and each decision graded by search.

import { api, watchJob } from "../api.js";
import { attempt, button, choices, fact, fill, h, muted, panel, small, tag, titleRow } from "../dom.js";
import { redrawPage, unitChoice } from "../units.js";
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

export function dropPanel(onjob) {
  const told = h("div", { class: "after", "aria-live": "polite" });
  const input = h("input", { type: "file", accept: KINDS, hidden: true, onchange: () => take(input.files[0]) });
  const box = h(
    "div",
    {
      class: "drop",
      ondragover: (event) => {
        event.preventDefault();
        box.classList.add("over");
      },
      ondragleave: () => box.classList.remove("over"),
      ondrop: (event) => {
        event.preventDefault();
        box.classList.remove("over");
        take(event.dataTransfer.files[0]);
      },
    },
    h("b", {}, "Drop a file of hands here"),
    muted("PHH, ACPC logs, PokerStars' text. Nothing leaves this machine."),
    button("Choose a file", () => input.click()),
    input,
  );

  async function take(file) {
    if (!file) return;
    fill(told, muted(`Reading ${file.name} …`));
    const isRead = await attempt(async () => {
      const found = await api.readHands(file.name, file);
      const player = ([name, count]) =>
        button([name, h("small", {}, ` ${count} hands`)], () => start(file, name), { class: "chip player" });
      fill(
        told,
        h("p", {}, `${found.hands} hands. Whose decisions are graded?`),
        h("p", { class: "row" }, found.players.map(player)),
        problemList(found.problems),
      );
    });
    if (!isRead) fill(told);
  }

  const start = (file, player) => attempt(async () => onjob(await api.gradeHands(file.name, player, file)));
  return panel("", h("h2", {}, "Bring your own hands"), box, told);
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
  const text = h("p", { class: "muted" }, "Waiting …");
  const stop = button("Stop here", () => attempt(() => api.stop(job.id)), { class: "quiet" });
  fill(box, panel("", bar, text, stop));
  const onprogress = ({ last }) => {
    if (!last?.hands) return;
    bar.value = last.hand / last.hands;
    text.textContent = `Hand ${last.hand + 1} of ${last.hands}, ${last.decisions} decisions graded`;
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
  const { decisions, problems, player, hands, given_up: lost, mistakes } = summary;
  const filter = { street: "", mistakes: false };
  const list = h("div", { class: "after graded" });
  const item = (decision) => {
    const link = h("a", { href: `#/hands/file/${id}/${decision.record}` }, "The whole hand");
    return decisionItem(decision, { link, openSpot: () => openSpotOf({ job: id }, decision) });
  };
  const draw = () => {
    const shown = filtered(decisions, filter).slice(0, 200);
    fill(list, shown.length ? shown.map(item) : muted("No such decision."));
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
      ),
      h(
        "dl",
        { class: "facts" },
        fact("Hands", hands),
        fact("Decisions", decisions.length),
        fact("Given up", `${lost.toFixed(1)} bb`),
        fact("a hand", `${each.toFixed(0)} mbb`),
      ),
      problemList(problems),
      small("The costliest first. At a table of several, graded are streets that begin with two players left."),
    ),
    h("p", { class: "row" }, streets, h("label", { class: "row" }, only, "Mistakes only"), unitChoice(redrawPage)),
    list,
  ];
}
