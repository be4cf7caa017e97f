// Where a card comes: a deck to choose it from, and a table that compares all of them.

import { api } from "../api.js";
import { actionColours, card, deckKeys, RANKS, stack } from "../cards.js";
import { attempt, button, fill, h, head, legendItems, table } from "../dom.js";
import { chips, mixText, percent } from "../format.js";
import { SIDES } from "../spot.js";
import { runoutsFrom, runoutsInUnit } from "./evs.js";
import { runoutChart } from "./runout-chart.js";

const SORTS = {
  card: (row) => -RANKS.indexOf(row.card[0]),
  equity: (row) => row.equities[0],
  ev: (row) => row.evs[0] ?? 0,
};

export const sorted = (rows, by) => [...rows].sort((a, b) => SORTS[by](b) - SORTS[by](a));

export function cardsPanel(job, { node, from, bigBlind, go }) {
  const dealt = new Set(node.board.split(" "));
  const keys = deckKeys(
    (one) => go(`${node.path}:${one}`),
    (one) => ({ disabled: dealt.has(one) }),
  );
  const box = h("div", { class: "runout-table" });
  const compare = async () => {
    load.disabled = true;
    load.textContent = "Working it out …";
    const isDone = await attempt(async () => {
      const found = runoutsFrom(await api.runouts(job.id, node.path), node, from);
      showRunouts(box, runoutsInUnit(found, bigBlind), go);
    });
    if (isDone) load.remove();
    else load.disabled = false;
  };
  const load = button("Compare all cards", compare);
  const deck = h("div", { class: "deck", role: "group", "aria-label": "The next card" }, keys);
  return [h("h2", {}, "Choose the next card"), deck, load, box];
}

function showRunouts(box, found, go, by = null) {
  const isTable = by !== null;
  const isDecision = found.player >= 0;
  const colours = actionColours(found.actions);
  const names = found.actions.map((action) => action.name);
  const legend = h("p", { class: "legend" }, `${SIDES[found.player]}: `, legendItems(names, colours));
  const sortHead = (key, text) => {
    const onclick = () => showRunouts(box, found, go, key);
    return h("th", {}, button([text, (by ?? "card") === key && " ↓"], onclick, { class: "link" }));
  };
  const heads = [
    sortHead("card", "Card"),
    isDecision && head("What follows", "bar"),
    sortHead("equity", "Equity OOP"),
    sortHead("ev", "EV OOP"),
    head("EV IP"),
  ];
  const rows = sorted(found.cards, by ?? "card").map((row) => runoutRow(row, found, colours, go));
  const sums = h("details", { class: "runout-rows" }, h("summary", {}, "As a table"), table({}, heads, rows));
  sums.open = isTable;
  const chart = runoutChart(found, colours, (one) => go(`${found.path}:${one}`));
  fill(box, isDecision && legend, chart, sums);
}

function runoutRow(row, { path, player, actions }, colours, go) {
  const link = button(card(row.card, "tiny"), () => go(`${path}:${row.card}`), { class: "link" });
  const shares = row.frequencies.map((share) => share ?? 0);
  const bar = () => h("td", { class: "bar" }, stack(shares, colours, mixText(actions, row.frequencies)));
  const [oop, ip] = row.evs.map((ev) => h("td", {}, chips(ev, 4)));
  return h("tr", {}, h("th", {}, link), player >= 0 && bar(), h("td", {}, percent(row.equities[0], 1)), oop, ip);
}
