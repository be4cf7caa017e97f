// The upper rows of the explorer: the spot's name, how well it is solved, what can be done with it.

import { api } from "../api.js";
import { attempt, h, tag, titleRow, toast } from "../dom.js";
import { number, precise, seconds } from "../format.js";

export const SHOWN = [
  ["actions", "Actions"],
  ["ev", "EV"],
  ["equity", "Equity"],
  ["range", "Range"],
];
const WHAT = "how much a perfect opponent would win, as a share of the pot";

export function explorerHead(job, stakes) {
  const { summary } = job;
  const { spot } = summary;
  const locked = Object.keys(spot.lock ?? {}).map((path) =>
    h("a", { class: "tag warn", href: `#/solve/${job.id}/${path}` }, `locked at ${path}`),
  );
  return h(
    "div",
    { class: "explorer-head" },
    titleRow(
      h("a", { class: "go-back", href: "#/solve", "aria-label": "All spots" }, "‹"),
      nameInput(job),
      tag(`exploitability ${precise(summary.exploitability_fraction)} of the pot`, "good", { title: WHAT }),
      tag(`${number(summary.iterations)} iterations, ${seconds(summary.seconds)}`),
      stakes,
      summary.stopped && tag("stopped early", "warn"),
      locked,
    ),
    h(
      "p",
      { class: "row tools" },
      h("a", { class: "button", href: `#/play/holdem/${job.id}` }, "Play this spot"),
      h("a", { class: "button", href: `#/solve?from=${job.id}` }, "Edit as a new spot"),
      h("a", { class: "button", href: `#/compare/${job.id}` }, "Compare"),
      h("a", { class: "button", href: `/api/solutions/${job.id}/file`, download: "" }, "Download"),
    ),
  );
}

function nameInput({ id, name }) {
  const onchange = () =>
    attempt(async () => {
      await api.rename(id, input.value);
      toast("Saved.");
    });
  const size = Math.max(6, name.length);
  const properties = { class: "title-input", value: name, size, maxLength: 100, "aria-label": "Name of this spot" };
  const input = h("input", { ...properties, onchange });
  return input;
}

const key = (text) => h("kbd", {}, text);

export function keyHelp() {
  return h(
    "p",
    { class: "keys muted small" },
    [key("1"), " – ", key("9"), " take an action, ", key("⌫"), " goes back, arrow keys walk the grid, "],
    [key("Enter"), " shows a class hand by hand."],
  );
}
