// What a deal teaches: step by step the agent's belief about your hand, the policies, and what was given up.

import { actionColours, card, CLASSES, stack } from "../cards.js";
import { h, head, muted, table, tag, titleRow } from "../dom.js";
import { number, percent, signed } from "../format.js";
import { heat } from "../grid.js";
import { LUCK, commonDigits, luckOf, rounded } from "../luck.js";
import { bid } from "./felt.js";

const BEFORE =
  "The agent knows its own hand, the rules, and how an equilibrium plays. From what you do it infers what you hold.";

export function review({ deal, unit }, faces, note) {
  const digits = unit === "chips" ? 1 : 2;
  const own = deal.steps.filter((step) => step.who === "you");
  const costliest = own.filter(isMistake).sort((a, b) => b.given_up - a.given_up)[0];
  const draw = (step) => reviewStep(step, { faces, digits, own: deal.hand });
  const steps = h("ol", { class: "steps" }, deal.steps.map(draw));
  return [
    titleRow(h("h2", {}, "Review"), costliest ? tag("a costly decision", "warn") : tag("no mistake", "good")),
    sumOfDeal(deal, digits),
    costliest && [h("h3", {}, "What cost most"), h("ol", { class: "steps costliest" }, draw(costliest))],
    h(
      "details",
      { class: "all-steps", open: !costliest },
      h("summary", {}, "What the agent saw, step by step"),
      note && muted(note),
      steps,
    ),
  ];
}

const isMistake = ({ given_up: lost, slack }) => lost > slack;

// the parts of a result as they are shown: rounded such that they add up
export function partsOfDeal({ won, expected, given_up: lost, given_away: gift, luck }, wanted) {
  const digits = commonDigits([won, expected, lost, gift ?? 0, luck], wanted);
  const parts = { won, expected, lost, gift: gift ?? 0 };
  for (const name of Object.keys(parts)) parts[name] = rounded(parts[name], digits);
  return { ...parts, luck: luckOf(won, [expected, -lost, parts.gift], digits), digits };
}

const GIVEN_AWAY = "What the agent's own play left you beyond the equilibrium's, over all hands that it could hold.";
const EDGE =
  "What the agent's own play took from your hand beyond the equilibrium's, over all hands that it could hold.";

// what another agent than the equilibrium gave away, or did better against this hand
const giftPart = (part, gift, digits) =>
  gift < 0
    ? part("−", "the agent's edge", (-gift).toFixed(digits), { help: EDGE })
    : part("+", "given away", signed(gift, digits), { help: GIVEN_AWAY });

function sumOfDeal(deal, wanted) {
  const { won, expected, lost, gift, luck, digits } = partsOfDeal(deal, wanted);
  const part = (sign, title, text, { kind = "", help } = {}) => [
    sign && h("span", { class: "sign", "aria-hidden": "true" }, sign),
    h("div", { title: help }, h("dt", {}, title), h("dd", { class: kind }, text)),
  ];
  return h(
    "dl",
    { class: "sum", "aria-label": "What this deal adds up to" },
    part("", "Result", signed(won, digits), { kind: "won" }),
    part("=", "your seat's value", signed(expected, digits)),
    part("−", "given up", lost.toFixed(digits), { kind: lost > 0 ? "bad" : "" }),
    deal.given_away ? giftPart(part, gift, digits) : [],
    part("+", "luck", signed(luck, digits), { help: LUCK }),
  );
}

function reviewStep(step, { faces, digits, own }) {
  const name = (option) => (faces ? bid(option, faces) : option.name);
  return h(
    "li",
    { class: `step ${step.who}` },
    h("div", { class: "step-head" }, stepHead(step, name)),
    step.who === "deal" && muted(BEFORE),
    step.why && h("p", { class: "why" }, step.why),
    step.note && h("p", { class: "muted small note" }, step.note),
    (step.policy || step.values) && policyTable(step, name, digits),
    h("div", { class: "belief" }, beliefParts(step.belief, own, faces)),
  );
}

function stepHead(step, name) {
  if (step.who === "deal") return "Before anything is said";
  if (step.who === "chance") return ["The next card: ", card(step.label, "tiny")];
  const taken = h("b", {}, name(step.options[step.taken]));
  return step.who === "you" ? ["You: ", taken, badge(step)] : ["Agent: ", taken];
}

function badge(step) {
  if (!step.values) return tag("not judged");
  return isMistake(step) ? tag(`gave up ${number(step.given_up, 2)}`, "warn") : tag("best", "good");
}

// the actions of a step worth showing: what was taken, what is played, all of few that have values
export function shownActions({ options, taken, policy, values, mixture }) {
  const isShown = (index) =>
    index === taken ||
    policy?.[index] >= 0.005 ||
    (!policy && values[index] >= Math.max(...values) - 1e-9) ||
    (values && options.length <= 6) ||
    mixture?.[index] >= 0.02;
  return options.map((_, index) => index).filter(isShown);
}

function policyTable(step, name, digits) {
  const colours = actionColours(step.options);
  const rows = shownActions(step).map((index) => policyRow(step, index, { colours, name, digits }));
  const shares = step.values ? "equilibrium" : "as it played";
  const columns = ["", ...(step.policy ? [shares, ""] : []), step.values ? "worth" : "all its hands"];
  return table(
    { class: "policy" },
    columns.map((text) => head(text)),
    rows,
  );
}

function policyRow({ options, taken, policy, values, mixture }, index, { colours, name, digits }) {
  const best = values ? Math.max(...values) : 0;
  const isBest = values && values[index] >= best - 1e-4 * Math.max(1, Math.abs(best));
  const bar = (share) => h("td", { class: "bar" }, stack([share, 1 - share], [colours[index], "transparent"]));
  return h(
    "tr",
    { class: index === taken ? "taken" : "" },
    h("th", {}, name(options[index])),
    policy && [bar(policy[index]), h("td", {}, percent(policy[index]))],
    values && h("td", { class: isBest ? "best" : "" }, signed(values[index], digits)),
    mixture && h("td", {}, percent(mixture[index])),
  );
}

function beliefParts(belief, own, faces) {
  const picture = belief.form === "grid" ? beliefGrid(belief) : beliefBars(belief, own, faces);
  const truth = `your ${faces ? "dice" : "hand"}: ${percent(belief.truth, belief.truth < 0.1 ? 1 : 0)}`;
  return [h("small", {}, "It believes you hold"), picture, h("small", { class: "truth" }, truth)];
}

const largest = (shares) => Math.max(...shares, 1e-9);

function beliefGrid({ shares }) {
  const most = largest(shares);
  const cell = (name, index) => {
    const style = shares[index] > 1e-6 ? { background: heat(Math.sqrt(shares[index] / most)) } : {};
    return h("i", { title: `${name}: ${percent(shares[index], 1)}`, style });
  };
  const label = "The agent's belief over hand classes";
  return h("div", { class: "mini-grid", role: "img", "aria-label": label }, CLASSES.map(cell));
}

function beliefBars({ hands, shares }, own, faces) {
  const most = largest(shares);
  const bar = (name, index) => {
    const height = `calc(${(shares[index] / most).toFixed(4)} * var(--tall))`;
    const properties = { class: `bar ${name === own ? "own" : ""}`, title: `${name}: ${percent(shares[index], 1)}` };
    const parts = [h("i", { style: { height } }), h("span", {}, name), h("em", {}, percent(shares[index]))];
    return h("div", properties, parts);
  };
  const label = `The agent's belief over your ${faces ? "dice" : "cards"}`;
  return h("div", { class: "bars", role: "img", "aria-label": label }, hands.map(bar));
}
