// What the actions of a decision are worth, as a coach tells it.

import { actionColours, cards, stack } from "../cards.js";
import { button, h, head, muted, small, table, tag } from "../dom.js";
import { percent, signed } from "../format.js";
import { amount, inWords } from "../units.js";

export const CHART_STACKS = [10, 15, 20, 25, 40, 60, 100, 150, 200]; // of the page with charts
const KINDS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };

export const blinds = (value) => `${signed(value, 2)} bb`;

export function gradeTable({ actions, taken, big_blind: bigBlind = 100 }) {
  const colours = actionColours(actions.map(({ kind }) => ({ kind: KINDS[kind] })));
  const hasValues = actions.every(({ value }) => value !== undefined);
  const row = ({ name, policy, value, best }, at) =>
    h(
      "tr",
      { class: at === taken ? "taken" : "" },
      h("th", {}, inWords(name, bigBlind), at === taken && " ✓"),
      h("td", { class: "bar" }, stack([policy, 1 - policy], [colours[at], "transparent"])),
      h("td", {}, percent(policy)),
      hasValues && h("td", { class: best ? "best" : "" }, blinds(value)),
    );
  const names = hasValues ? ["", "the search plays", "", "worth"] : ["", "the chart plays", ""];
  return table({ class: "policy" }, names.map((text) => head(text)), actions.map(row)); // prettier-ignore
}

// what the charts do with a hand before the flop
export function chartTable(advice) {
  const { name, stack: size, path, exact, known } = advice;
  if (!known) return muted(`The chart never comes here with ${name}, so it has no advice.`);
  const href = `#/preflop/${size}/${path}`;
  const link = CHART_STACKS.includes(size) && h("a", { href }, "Open the chart");
  const nearest = !exact && "The raises here are not in the chart; this is its nearest line. ";
  return h("div", {}, gradeTable(advice), small(nearest, link));
}

export const chartItem = (advice) =>
  h(
    "details",
    { class: "decision chart-item" },
    h(
      "summary",
      {},
      cards(advice.hand, "tiny"),
      h("span", { class: "on" }, "before the flop"),
      h("span", { class: "did" }, inWords(advice.actions[advice.taken].name, advice.big_blind)),
      advice.known && tag(`${percent(advice.actions[advice.taken].policy)} in the chart`),
    ),
    chartTable(advice),
  );

export function verdict({ given_up: lost, mistake, actions, taken }) {
  if (mistake) return tag(`gave up ${lost.toFixed(2)} bb`, "warn");
  if (lost > 0) return tag(`fine, ${lost.toFixed(2)} bb from the best`);
  return tag(actions?.[taken]?.best === false ? "one of the best" : "best", "good");
}

// a decision in a row: where it was, how it was judged, and what else could have been done
export function decisionItem(decision, { link, openSpot, again, isOpen = false } = {}) {
  const { street, board, hand, pot, actions, taken, big_blind: bigBlind = 100 } = decision;
  const spot = openSpot && h("button", { type: "button", class: "quiet", onclick: openSpot }, "Open as a spot");
  const retry = again && button("Try another action", () => again(decision.step), { class: "quiet" });
  return h(
    "details",
    { class: `decision ${decision.mistake ? "mistake" : ""}`, open: isOpen },
    h(
      "summary",
      {},
      cards(hand, "tiny"),
      h("span", { class: "on" }, "on"),
      cards(board, "tiny"),
      h("span", { class: "did" }, taken === null ? "" : inWords(actions[taken].name, bigBlind)),
      verdict(decision),
    ),
    h("p", { class: "muted small" }, `${street}, pot ${amount(pot * bigBlind, bigBlind)}; a fold is worth 0.`),
    gradeTable(decision),
    h("p", { class: "row" }, link, retry, spot),
  );
}
