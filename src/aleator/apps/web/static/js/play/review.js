// What a deal teaches: step by step the agent's belief about your hand, the policies, and what was given up.

import { actionColours, card, CLASSES, stack } from "../cards.js";
import { h, head, muted, table, tag, titleRow } from "../dom.js";
import { number, percent, signed } from "../format.js";
import { heat } from "../grid.js";
import { bid } from "./felt.js";

const BEFORE =
  "The agent knows its own hand, the rules, and how an equilibrium plays. From what you do it infers what you hold.";

export function review({ deal, unit }, faces) {
  const digits = unit === "chips" ? 1 : 2;
  const lost = deal.steps.reduce((sum, step) => sum + (step.given_up ?? 0), 0);
  const gaveUp = lost > 0.01 ? tag(`you gave up ${number(lost, 2)}`, "warn") : tag("nothing given up", "good");
  const [won, skill, luck, expected] = [deal.won, deal.skill, deal.luck, deal.expected].map((x) => signed(x, digits));
  const told = `, of which ${skill} is play and ${luck} luck. Your seat is worth ${expected} on average.`;
  const steps = deal.steps.map((step) => reviewStep(step, { faces, digits, own: deal.hand }));
  return [
    titleRow(h("h2", {}, "What the agent saw"), gaveUp),
    muted("This deal: ", h("b", {}, won), told),
    h("ol", { class: "steps" }, steps),
  ];
}

function reviewStep(step, { faces, digits, own }) {
  const name = (option) => (faces ? bid(option, faces) : option.name);
  return h(
    "li",
    { class: `step ${step.who}` },
    h("div", { class: "step-head" }, stepHead(step, name)),
    step.who === "deal" && muted(BEFORE),
    step.why && h("p", { class: "why" }, step.why),
    step.policy && policyTable(step, name, digits),
    h("div", { class: "belief" }, beliefParts(step.belief, own, faces)),
  );
}

function stepHead(step, name) {
  if (step.who === "deal") return "Before anything is said";
  if (step.who === "chance") return ["The next card: ", card(step.label, "tiny")];
  const taken = h("b", {}, name(step.options[step.taken]));
  return step.who === "you" ? ["You: ", taken, badge(step)] : ["Agent: ", taken];
}

function badge({ given_up: lost, values }) {
  const isBest = lost < 0.005 * Math.max(1, ...values.map(Math.abs));
  return isBest ? tag("best", "good") : tag(`gave up ${number(lost, 2)}`, "warn");
}

// the actions of a step worth showing: what was taken, what is played, all of few that have values
export function shownActions({ options, taken, policy, values, mixture }) {
  const isShown = (index) =>
    index === taken || policy[index] >= 0.005 || (values && options.length <= 6) || mixture?.[index] >= 0.02;
  return options.map((_, index) => index).filter(isShown);
}

function policyTable(step, name, digits) {
  const colours = actionColours(step.options);
  const rows = shownActions(step).map((index) => policyRow(step, index, { colours, name, digits }));
  const columns = step.values ? ["", "equilibrium", "", "worth"] : ["", "with its hand", "", "all hands"];
  const heads = columns.map((text) => head(text));
  return table({ class: "policy" }, heads, rows);
}

function policyRow({ options, taken, policy, values, mixture }, index, { colours, name, digits }) {
  const share = policy[index];
  const best = values ? Math.max(...values) : 0;
  const isBest = values && values[index] >= best - 1e-4 * Math.max(1, Math.abs(best));
  return h(
    "tr",
    { class: index === taken ? "taken" : "" },
    h("th", {}, name(options[index])),
    h("td", { class: "bar" }, stack([share, 1 - share], [colours[index], "transparent"])),
    h("td", {}, percent(share)),
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
