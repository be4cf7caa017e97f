// The ranges at a node: how their equities compare, their text to copy, and a new spot that begins here.

import { api } from "../api.js";
import { makeChart } from "../chart.js";
import { attempt, button, fill, h, panel, toast } from "../dom.js";
import { SIDES } from "../spot.js";

const AXES = { xLabel: "% of the range, weakest first", yLabel: "equity, %" };
const LABEL = "Equity over the range of each player, from its weakest hand to its strongest";

export function makeRanges(job) {
  const chart = makeChart({ label: LABEL, ...AXES, height: 200 });
  const buttons = h("p", { class: "chips" });
  const further = h("p", {});
  const title = h("p", { class: "label" }, "Copy as text");
  const element = panel("node-ranges", h("h2", {}, "Ranges"), chart.element, title, buttons, further);

  // a button that copies a text of the node's ranges
  function copyButton(path, name, pick) {
    const copy = () =>
      attempt(async () => {
        const text = pick(await api.ranges(job.id, path));
        await navigator.clipboard.writeText(text);
        toast(text ? `Copied: ${name}.` : `No hand: ${name}.`);
      });
    return button(name, copy, { class: "chip" });
  }

  function show(node) {
    chart.set({ series: node.players.map(equitySeries) });
    const whole = SIDES.map((name, side) => copyButton(node.path, name, (found) => found.players[side]));
    const taken = node.actions.map((action, at) =>
      copyButton(node.path, `${SIDES[node.player]}, ${action.name}`, (found) => found.actions[at]),
    );
    fill(buttons, whole, taken);
    const begins = node.kind === "decision" && node.line.at(-2)?.kind === "next_street";
    const href = `#/solve?from=${job.id}&node=${node.path}`;
    fill(further, begins && h("a", { class: "button", href }, "Solve from here with other sizes"));
  }

  return { element, show, leave: chart.leave };
}

function equitySeries({ equity_curve: curve }, side) {
  const points = curve.map((equity, at) => [(100 * at) / (curve.length - 1), 100 * equity]);
  return { name: SIDES[side], colour: `var(--series-${side + 1})`, points };
}
