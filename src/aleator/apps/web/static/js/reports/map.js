// A heat map of flops: the highest card by the second; flops with two or three of a suit above the diagonal, rainbow ones
// below, pairs of the highest card on it. A cell is the mean over its flops.

import { RANKS } from "../cards.js";
import { fill, h, small } from "../dom.js";
import { heat } from "../grid.js";
import { meanOver } from "./mean.js";

const SHADE = 0.6; // of the full colour: names stay readable on it
const HELP = "Rows and columns: the two highest cards; above the diagonal two or three of a suit, below rainbow.";

export function cellOf(flop) {
  const [first, second] = flop.cards.split(" ").map(([rank]) => RANKS.indexOf(rank));
  return flop.texture.suits === "rainbow" ? 13 * second + first : 13 * first + second;
}

export function means(flops, place, read) {
  const inCells = Array.from({ length: 169 }, () => []);
  for (const flop of flops) inCells[cellOf(flop)].push(flop);
  return inCells.map((own) => meanOver(own, place, read));
}

// the two highest cards of a cell, the higher one first
function nameOf(index) {
  const [row, column] = [Math.floor(index / 13), index % 13];
  return RANKS[Math.min(row, column)] + RANKS[Math.max(row, column)];
}

export function drawMap(box, { flops, place, title, read, format }) {
  const values = means(flops, place, read);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const cell = (value, index) => {
    const name = nameOf(index);
    if (value === null) return h("span", { class: "none", "aria-hidden": "true" });
    const label = `${name}: ${title} ${format(value)}`;
    return h("span", { style: { background: heat((SHADE * (value - low)) / (high - low || 1)) }, title: label }, name);
  };
  const map = h("div", { class: "map13", role: "img", "aria-label": `${title} by the two highest cards` });
  fill(map, values.map(cell));
  fill(box, h("h2", {}, title), map, small(HELP));
}
