// The table of a report: a row per flop, sorted by any column.

import { RANKS, cards } from "../cards.js";
import { fill, h } from "../dom.js";
import { chips, column, percent } from "../format.js";
import { heat } from "../grid.js";
import { openSpot } from "../hands/spots.js";
import { withUnit } from "../units.js";

const SHADE = 0.6; // of the full colour: numbers stay readable on it
const SHARE = (value) => percent(value, 1);

// what a flop can be drawn and sorted by: key, title, how it is read from a node, how it is written
export function measures(report, place) {
  const { actions } = report.mean[place];
  return [
    ["ev0", withUnit("EV OOP"), ({ ev }) => ev[0], chips],
    ["ev1", withUnit("EV IP"), ({ ev }) => ev[1], chips],
    ["equity", "Equity OOP", ({ equity }) => equity[0], SHARE],
    ...actions.map(({ token, name }, at) => [token, name, ({ actions: own }) => own[at].frequency, SHARE]),
  ];
}

// what flops are chosen by
export const TEXTURES = {
  suits: ["monotone", "two-tone", "rainbow"],
  pairing: ["trips", "paired", "unpaired"],
  high: [...RANKS],
  connection: ["connected", "close", "apart"],
};

export function sorted(flops, sort, read) {
  if (!sort) return flops;
  const sign = sort.startsWith("-") ? 1 : -1;
  const value = (flop) => read(flop) ?? -Infinity;
  return [...flops].sort((one, other) => sign * (value(one) - value(other)));
}

export function drawTable(box, { report, flops, place, sort, onsort }) {
  const columns = [["chance", "Chance", null, SHARE], ...measures(report, place)];
  const readers = columns.map(
    ([key, , read]) =>
      (flop) =>
        key === "chance" ? flop.chance : read(flop[place]),
  );
  const key = sort.replace("-", "");
  const chosen = columns.findIndex(([name]) => name === key);
  const rows = sorted(flops, sort, readers[chosen]);
  const spans = readers.map((read) => bounds(flops.map(read)));
  const head = ([name, title]) => {
    const order = name === key ? (sort.startsWith("-") ? "ascending" : "descending") : "none";
    const press = h("button", { type: "button", class: "sort", onclick: () => onsort(name) }, title);
    return h("th", { "aria-sort": order }, press);
  };
  const writers = columns.map(([, , , format], at) => (format === chips ? column(flops.map(readers[at])) : format));
  const cell = (flop, at) => {
    const value = readers[at](flop);
    const [low, high] = spans[at];
    const isKnown = value !== null && at > 0;
    const background = isKnown ? heat((SHADE * (value - low)) / (high - low || 1)) : "";
    return h("td", { style: background ? { background } : {} }, writers[at](value));
  };
  const open = (flop) => openSpot("solve", { ...report.spot, board: flop.cards }, flop.cards);
  const row = (flop) => {
    const link = h("button", { type: "button", class: "flop", title: "Solve it alone", onclick: () => open(flop) });
    link.append(cards(flop.cards, "tiny"));
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, link),
      columns.map((_, at) => cell(flop, at)),
    );
  };
  const heads = h("thead", {}, h("tr", {}, h("th", {}, "Flop"), columns.map(head)));
  fill(box, h("table", { class: "flops" }, heads, h("tbody", {}, rows.map(row))));
}

function bounds(values) {
  const known = values.filter((value) => value !== null);
  return known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
}
