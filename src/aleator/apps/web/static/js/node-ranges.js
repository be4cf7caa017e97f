// The ranges at a node: how their equities compare, their text to copy, and a new spot that begins here.

import { api } from "./api.js";
import { makeChart } from "./chart.js";
import { fill, h, toast } from "./dom.js";

const SIDES = ["OOP", "IP"];

export function makeRanges(job) {
  const chart = makeChart({ label: "Equity over the range of each player, from its weakest hand to its strongest", xLabel: "% of the range, weakest first", yLabel: "equity, %", height: 200 });
  const buttons = h("p", { class: "chips" });
  const further = h("p", {});
  const element = h("section", { class: "panel node-ranges" }, h("h2", {}, "Ranges"), chart.element, h("p", { class: "label" }, "Copy as text"), buttons, further);

  async function copy(path, pick, name) {
    try {
      const text = pick(await api.ranges(job.id, path));
      await navigator.clipboard.writeText(text);
      toast(text ? `Copied: ${name}.` : `No hand: ${name}.`);
    } catch (error) {
      toast(error.message, "error");
    }
  }

  function show(node) {
    const series = node.players.map(({ equity_curve: curve }, side) => ({
      name: SIDES[side],
      colour: `var(--series-${side + 1})`,
      points: curve.map((equity, at) => [(100 * at) / (curve.length - 1), 100 * equity]),
    }));
    chart.set({ series });
    const button = (name, pick) => h("button", { type: "button", class: "chip", onclick: () => copy(node.path, pick, name) }, name);
    fill(
      buttons,
      SIDES.map((name, side) => button(name, (found) => found.players[side])),
      node.actions.map((action, at) => button(`${SIDES[node.player]}, ${action.name}`, (found) => found.actions[at])),
    );
    const begins = node.kind === "decision" && node.line.at(-2)?.kind === "next_street";
    fill(further, begins && h("a", { class: "button", href: `#/solve?from=${job.id}&node=${node.path}` }, "Solve from here with other sizes"));
  }

  return { element, show, leave: chart.leave };
}
