// The ranges with which two players see a flop, as grids beside the line that leads there.

import { api } from "../api.js";
import { CLASSES } from "../cards.js";
import { h } from "../dom.js";
import { number, percent } from "../format.js";
import { makeGrid, plain } from "../grid.js";

const SIDES = ["oop", "ip"];
const LEAST = 1e-3;

// what the cell of a class shows: filled as much as the class weighs
export function rangeCell(share, name) {
  if (share < LEAST) return { dim: true, label: `${name}, not here` };
  const size = `100% ${Math.max(12, Math.round(100 * share))}%`;
  return { background: plain("var(--range)"), size, label: `${name}, ${percent(share)}` };
}

export function makeFlopRanges() {
  const parts = SIDES.map((side) => {
    const name = side.toUpperCase();
    return { side, name, grid: makeGrid(`The range of ${name}`), title: h("p", { class: "caption" }) };
  });
  const element = h(
    "div",
    { class: "flop-ranges", hidden: true },
    parts.map(({ grid, title }) => h("div", {}, title, grid.element)),
  );

  async function show(spot) {
    element.hidden = !spot;
    if (!spot) return;
    const found = await Promise.all(parts.map(({ side }) => api.range(spot[side])));
    parts.forEach(({ name, grid, title }, at) => {
      const { weights, num_hands: hands } = found[at];
      title.replaceChildren(h("b", {}, name), ` ${number(hands)} hands`);
      grid.paint((index) => rangeCell(weights[index], CLASSES[index]));
    });
  }

  return { element, show, leave: () => parts.forEach(({ grid }) => grid.leave()) };
}
