// What the actions of a decision are worth, as a coach tells it.

import { actionColours, cards, stack } from "../cards.js";
import { button, h, head, table, tag } from "../dom.js";
import { percent, signed } from "../format.js";
import { amount, inWords } from "../units.js";

export const CHART_STACKS = [10, 15, 20, 25, 40, 50, 60, 100, 150, 200]; // of the page with charts
const KINDS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };

export const blinds = (value) => `${signed(value, 2)} bb`;

// which columns a table of actions has: what is done how often, what it is worth, how sure that is
const columnsOf = (actions) => ["policy", "value", "error"].filter((key) => actions.every((one) => key in one));

// whether actions were searched: what is played out has an error, what a blueprint does alone has no values
const isSearched = (actions) => actions.every((one) => "policy" in one && "value" in one && !("error" in one));

const HEADS = {
  policy: ["the search plays", ""],
  value: ["worth"],
  error: ["±"],
};

export function gradeTable({ actions, taken, big_blind: bigBlind = 100 }) {
  const colours = actionColours(actions.map(({ kind }) => ({ kind: KINDS[kind] })));
  const columns = columnsOf(actions);
  const cells = {
    policy: ({ policy }, at) => [
      h("td", { class: "bar" }, stack([policy, 1 - policy], [colours[at], "transparent"])),
      h("td", {}, percent(policy)),
    ],
    value: ({ value, best }) => h("td", { class: best ? "best" : "" }, blinds(value)),
    error: ({ error }) => h("td", {}, error > 0 && `± ${error.toFixed(2)} bb`),
  };
  const row = (action, at) =>
    h(
      "tr",
      { class: at === taken ? "taken" : "" },
      h("th", {}, inWords(action.name, bigBlind), at === taken && " ✓"),
      columns.map((key) => cells[key](action, at)),
    );
  const names = ["", ...columns.flatMap((key) => HEADS[key])];
  if (columns.includes("policy") && !isSearched(actions)) names[1] = "the blueprint plays";
  return table({ class: "policy" }, names.map((text) => head(text)), actions.map(row)); // prettier-ignore
}

// where the charts have a decision before the flop
export function chartLink({ stack: size, path, exact }) {
  return path && h("a", { href: `#/preflop/${size}/${path}` }, exact ? "Open the chart" : "The nearest chart");
}

// what a blueprint does with a hand before the flop, at a table of several
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
      tag(`${percent(advice.actions[advice.taken].policy)} in the blueprint`),
    ),
    gradeTable(advice),
  );

export function verdict({ given_up: lost, behind, mistake, actions, taken }) {
  if (mistake) return tag(`gave up ${lost.toFixed(2)} bb`, "warn");
  if (behind >= 0.005) return tag(`fine, ${behind.toFixed(2)} bb from the best`);
  return tag(actions?.[taken]?.best === false ? "one of the best" : "best", "good");
}

// what would have been best, if that was not done
function betterThan({ actions, taken, mistake, big_blind: bigBlind = 100 }) {
  const best = mistake && actions.find((one, at) => one.best && at !== taken);
  return best && h("span", { class: "better" }, `best: ${inWords(best.name, bigBlind)}`);
}

// where a decision was, what was done, and how it was judged
function headOf(decision) {
  const { street, board, hand, actions, taken, number, position, big_blind: bigBlind = 100 } = decision;
  const did = taken === null ? "" : inWords(actions[taken].name, bigBlind);
  const place = [h("span", { class: "on" }, board ? "on" : street), cards(board, "tiny")];
  const where = number !== undefined && h("span", { class: "where" }, `hand ${number}, ${position}`);
  return h(
    "summary",
    {},
    h("span", { class: "spot" }, cards(hand, "tiny"), place),
    h("span", { class: "did" }, did, betterThan(decision)),
    where,
    verdict(decision),
  );
}

// a decision in a row, and in it what else could have been done
export function decisionItem(decision, { link, openSpot, again, isOpen = false } = {}) {
  const { street, board, pot, chart, actions, big_blind: bigBlind = 100 } = decision;
  const spot = openSpot && board && isSearched(actions) && button("Open as a spot", openSpot, { class: "quiet" });
  const retry = again && button("Try another action", () => again(decision.step), { class: "quiet" });
  return h(
    "details",
    { class: `decision ${decision.mistake ? "mistake" : ""}`, open: isOpen },
    headOf(decision),
    h("p", { class: "muted small" }, `${street}, pot ${amount(pot * bigBlind, bigBlind)}; a fold is worth 0.`),
    gradeTable(decision),
    h("p", { class: "row" }, link, retry, spot, chartLink(chart ?? {})),
  );
}
