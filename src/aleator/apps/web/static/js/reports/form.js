// What a report is of: the spot, which flops, a node to look at, and how many are solved at a time.

import { api } from "../api.js";
import { attempt, button, choices, field, fill, h, panel, small } from "../dom.js";
import { bytes, seconds } from "../format.js";
import { openSpot } from "../hands/spots.js";
import { describeSpot } from "../spot.js";
import { lineInWords } from "./changes.js";
import { saidIn } from "./in-unit.js";

const COUNTS = ["25", "49", "85", "184", "all"];

// a choice of the decisions on the flop, each by the line that leads there
function nodeChoice(request) {
  const { spot } = request;
  const select = h("select", { "aria-label": "Decision", onchange: () => (request.node = select.value) });
  const offer = (nodes) => {
    const option = ({ path, said }) =>
      h("option", { value: path, title: path }, lineInWords(saidIn(said, spot.min_bet || 1)));
    fill(select, nodes.map(option));
    select.value = request.node;
  };
  offer([{ path: request.node, said: [] }]);
  api.reportNodes(spot).then(offer, () => {}); // why a spot is refused is said when the report is made
  return select;
}

export function makeReportForm(spot, title, cores, onstart) {
  const request = { name: title, spot, flops: "25", node: "r:0", bits: 32, processes: cores };
  const told = describeSpot(spot).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]);
  const expected = h("p", { class: "muted", "aria-live": "polite" });
  const input = (key, properties, read = (text) => text) =>
    h("input", { value: request[key], ...properties, onchange: ({ target }) => (request[key] = read(target.value)) });
  const list = input("flops", { type: "text", placeholder: "AsKd7h, 9s8s2d", "aria-label": "Flops", hidden: true });
  const count = choices("Flops", [...COUNTS.map((text) => [text, text]), ["", "list"]], "25", (chosen) => {
    request.flops = chosen || list.value;
    list.hidden = chosen !== "";
  });
  const estimate = () =>
    attempt(async () => {
      fill(expected, "Measuring …");
      const found = await api.estimateReport(request).catch((error) => {
        fill(expected, error.message);
        throw error;
      });
      const size = `${bytes(found.memory)} of memory${found.fits ? "" : ", which is not there"}`;
      fill(expected, `${found.flops} flops: about ${seconds(found.seconds)}, ${size}`);
    });
  const start = async () => {
    go.disabled = true;
    await attempt(() => onstart(request));
    go.disabled = false;
  };
  const go = button("Make the report", start, { class: "primary big" });
  return panel(
    "report-form",
    h("dl", { class: "told" }, told),
    h(
      "div",
      { class: "report-fields" },
      field("Name", input("name", { type: "text", maxLength: 100, "aria-label": "Name" })),
      h("div", { class: "field" }, h("span", { class: "label" }, "Flops"), count, list),
      field("Decision", nodeChoice(request), "to look at besides the first"),
      field("At a time", input("processes", { type: "number", min: 1, max: 64, "aria-label": "At a time" }, Number)),
    ),
    h(
      "p",
      { class: "row" },
      go,
      button("What will it take?", estimate),
      button("Edit the spot", () => openSpot("solve", spot, title)),
    ),
    expected,
    small("The board of the spot is replaced by each flop. Ranges must weigh all suits the same."),
  );
}
