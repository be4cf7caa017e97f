// What a deal teaches: step by step the agent's belief about your hand, the policies, and what was given up.

import { actionColours, card, CLASSES, stack } from "../cards.js";
import { h, number, percent, signed } from "../dom.js";
import { heat } from "../grid.js";
import { bid } from "./play.js";

export function review(session, { faces, hand }) {
  const { deal, unit } = session;
  const digits = unit === "chips" ? 1 : 2;
  const lost = deal.steps.reduce((sum, step) => sum + (step.given_up ?? 0), 0);
  const name = (option) => (faces ? bid(option, faces) : option.name);
  return [
    h("div", { class: "title-row" }, h("h2", {}, "What the agent saw"), h("span", { class: `tag ${lost > 0.01 ? "warn" : "good"}` }, lost > 0.01 ? `you gave up ${number(lost, 2)}` : "nothing given up")),
    h("p", { class: "muted" }, "This deal: ", h("b", {}, signed(deal.won, digits)), `, of which ${signed(deal.skill, digits)} is play and ${signed(deal.luck, digits)} luck. Your seat is worth ${signed(deal.expected, digits)} on average.`),
    h("ol", { class: "steps" }, deal.steps.map((step) => oneStep(step, { faces, hand, deal, name, digits }))),
  ];
}

function oneStep(step, { faces, hand, deal, name, digits }) {
  const heads = {
    deal: () => ["Before anything is said", ""],
    chance: () => ["The next card: ", card(step.label, "tiny")],
    you: () => ["You: ", h("b", {}, name(step.options[step.taken])), badge(step)],
    agent: () => ["Agent: ", h("b", {}, name(step.options[step.taken]))],
  };
  return h(
    "li",
    { class: `step ${step.who}` },
    h("div", { class: "step-head" }, heads[step.who]()),
    step.who === "deal" && h("p", { class: "muted" }, "The agent knows its own hand, the rules, and how an equilibrium plays. From what you do it infers what you hold."),
    step.why && h("p", { class: "why" }, step.why),
    step.policy && policyTable(step, { name, digits }),
    h("div", { class: "belief" }, h("small", {}, "It believes you hold"), beliefPicture(step.belief, deal.hand, faces), h("small", { class: "truth" }, `your ${faces ? "dice" : "hand"}: ${percent(step.belief.truth, step.belief.truth < 0.1 ? 1 : 0)}`)),
  );
}

function badge(step) {
  const lost = step.given_up;
  if (lost < 0.005 * Math.max(1, ...step.values.map(Math.abs))) return h("span", { class: "tag good" }, "best");
  return h("span", { class: "tag warn" }, `gave up ${number(lost, 2)}`);
}

function policyTable(step, { name, digits }) {
  const colours = actionColours(step.options);
  const order = step.options.map((_, index) => index).filter((index) => index === step.taken || step.policy[index] >= 0.005 || (step.values && step.options.length <= 6) || step.mixture?.[index] >= 0.02);
  const best = step.values ? Math.max(...step.values) : null;
  const rows = order.map((index) =>
    h(
      "tr",
      { class: index === step.taken ? "taken" : "" },
      h("th", {}, name(step.options[index])),
      h("td", { class: "bar" }, stack([step.policy[index], 1 - step.policy[index]], [colours[index], "transparent"])),
      h("td", {}, percent(step.policy[index])),
      step.values && h("td", { class: step.values[index] >= best - 1e-4 * Math.max(1, Math.abs(best)) ? "best" : "" }, signed(step.values[index], digits)),
      step.mixture && h("td", {}, percent(step.mixture[index])),
    ),
  );
  const columns = step.values ? ["", "equilibrium", "", "worth"] : ["", "with its hand", "", "all hands"];
  return h("table", { class: "policy" }, h("thead", {}, h("tr", {}, columns.map((text) => h("th", {}, text)))), h("tbody", {}, rows));
}

function beliefPicture(belief, own, faces) {
  const most = Math.max(...belief.shares, 1e-9);
  if (belief.form === "grid") {
    const cells = CLASSES.map((cls, index) => h("i", { title: `${cls}: ${percent(belief.shares[index], 1)}`, style: belief.shares[index] > 1e-6 ? { background: heat(Math.sqrt(belief.shares[index] / most)) } : {} }));
    return h("div", { class: "mini-grid", role: "img", "aria-label": "The agent's belief over hand classes" }, cells);
  }
  const bars = belief.hands.map((name, index) =>
    h("div", { class: `bar ${name === own ? "own" : ""}`, title: `${name}: ${percent(belief.shares[index], 1)}` }, h("i", { style: { height: `calc(${(belief.shares[index] / most).toFixed(4)} * var(--tall))` } }), h("span", {}, name), h("em", {}, percent(belief.shares[index]))),
  );
  return h("div", { class: "bars", role: "img", "aria-label": `The agent's belief over your ${faces ? "dice" : "cards"}` }, bars);
}
