// The line so far: every node on the way, what could be done there, and what was done.

import { actionColours, card, cards } from "../cards.js";
import { button, h } from "../dom.js";
import { percent } from "../format.js";
import { SIDES } from "../spot.js";

export function lineSteps({ node, go }) {
  const last = node.line.length - 1;
  const steps = node.line.map((step, index) => lineStep(step, index === last ? node : null, go));
  return [h("div", { class: "line-board" }, cards(node.board, "medium")), steps];
}

// `here` is the node itself at the end of the line
function lineStep(step, here, go) {
  if (step.kind === "next_street") return cardStep(step, here, go);
  if (step.kind === "decision") return decisionStep(step, here, go);
  return h("div", { class: "line-step end here" }, h("small", {}, `pot ${step.pot}`), h("b", {}, step.kind));
}

function cardStep({ taken, path }, here, go) {
  const label = `choose another card than ${taken}`;
  const chosen = taken
    ? button(card(taken, "small"), () => go(path), { class: "line-card", "aria-label": label })
    : h("span", { class: "muted" }, "choose");
  return h("div", { class: `line-step chance ${here ? "here" : ""}` }, h("small", {}, "card"), chosen);
}

function decisionStep({ actions, taken, path, player, pot }, here, go) {
  const colours = actionColours(actions);
  const list = actions.map(({ token, name }, at) => {
    const often = here?.actions[at] && h("em", {}, percent(here.actions[at].frequency));
    const parts = [h("i", { style: { background: colours[at] } }), name, often];
    return button(parts, () => go(`${path}:${token}`), { class: `line-action ${taken === token ? "taken" : ""}` });
  });
  const who = h(
    "small",
    {},
    button(SIDES[player], () => go(path), { class: "link" }),
    ` pot ${pot}`,
  );
  return h("div", { class: `line-step ${here ? "here" : ""}` }, who, list);
}
