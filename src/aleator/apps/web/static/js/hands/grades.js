// What the actions of a decision are worth, as a coach tells it.

import { actionColours, cards, stack } from "../cards.js";
import { button, h, head, table, tag } from "../dom.js";
import { capitalised, percent, signed } from "../format.js";
import { amount, inWords } from "../units.js";

export const CHART_STACKS = [10, 15, 20, 25, 40, 50, 60, 100, 150, 200]; // of the page with charts
const KINDS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };

export const blinds = (value) => `${signed(value, 2)} bb`;

// which columns a table of actions has: what is done how often, what it is worth, how sure that is
const columnsOf = (actions) => ["policy", "value", "error"].filter((key) => actions.every((one) => key in one));

// whether actions were searched: what is played out has an error, what a blueprint does alone has no values
const isSearched = (actions) => actions.every((one) => "policy" in one && "value" in one && !("error" in one));

const UNTRIED = "– The blueprint has hardly ever met what comes after that: it cannot say what it is worth.";
const HEADS = {
  policy: ["the search plays", ""],
  value: ["worth"],
  error: ["± to the best"],
};

export function gradeTable({ actions, taken, untried = [], big_blind: bigBlind = 100 }) {
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
  const unknown = ({ name, policy }) =>
    h(
      "tr",
      { class: "muted" },
      h("th", {}, inWords(name, bigBlind)),
      columns.map((key) => (key === "policy" ? [h("td", {}), h("td", {}, percent(policy))] : h("td", {}, "–"))),
    );
  const rows = [...actions.map(row), ...(columns.includes("policy") ? untried.map(unknown) : [])];
  const told = untried.length > 0 && columns.includes("policy") && h("p", { class: "muted small" }, UNTRIED);
  const names = ["", ...columns.flatMap((key) => HEADS[key])];
  if (columns.includes("policy") && !isSearched(actions)) names[1] = "the blueprint plays";
  return [table({ class: "policy" }, names.map((text) => head(text)), rows), told]; // prettier-ignore
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
  const did = actions?.[taken];
  if (did?.best !== false) return tag("best", "good");
  return tag("error" in did ? "as good, as far as this can tell" : "one of the best", "good");
}

// what would have been best, if that was not done
function betterThan({ actions, taken, mistake, big_blind: bigBlind = 100 }) {
  const best = mistake && actions.find((one, at) => one.best && at !== taken);
  return best && h("span", { class: "better" }, `best: ${inWords(best.name, bigBlind)}`);
}

// decisions that nobody can judge, and why
export const ungradedList = (ungraded) =>
  h(
    "details",
    { class: "decision ungraded" },
    h("summary", {}, `${ungraded.length} without a grade`),
    h(
      "ul",
      { class: "small" },
      ungraded.map(({ street, name, reason, big_blind: bigBlind = 100 }) =>
        h("li", {}, h("b", {}, `${capitalised(street)}, ${inWords(name, bigBlind)}`), `: ${reason}.`),
      ),
    ),
  );

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
