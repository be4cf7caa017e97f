// A heat map of flops: the highest card by the second; flops with two or three of a suit above the diagonal, rainbow ones
// below, pairs of the highest card on it. A cell is the mean over its flops, each as likely as it is.

import { RANKS } from "../cards.js";
import { fill, h, small } from "../dom.js";
import { heat } from "../grid.js";

const SHADE = 0.6; // of the full colour: names stay readable on it
const HELP = "Rows and columns: the two highest cards; above the diagonal two or three of a suit, below rainbow.";

export function cellOf(flop) {
  const [first, second] = flop.cards.split(" ").map(([rank]) => RANKS.indexOf(rank));
  return flop.texture.suits === "rainbow" ? 13 * second + first : 13 * first + second;
}

export function means(flops, read) {
  const sums = Array.from({ length: 169 }, () => [0, 0]);
  for (const flop of flops) {
    const value = read(flop);
    if (value === null) continue;
    const sum = sums[cellOf(flop)];
    sum[0] += flop.chance * value;
    sum[1] += flop.chance;
  }
  return sums.map(([total, weight]) => (weight > 0 ? total / weight : null));
}

export function drawMap(box, { flops, title, read, format }) {
  const values = means(flops, read);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const cell = (value, index) => {
    const name = RANKS[Math.floor(index / 13)] + RANKS[index % 13];
    if (value === null) return h("span", { class: "none", "aria-hidden": "true" });
    const label = `${name}: ${title} ${format(value)}`;
    return h("span", { style: { background: heat((SHADE * (value - low)) / (high - low || 1)) }, title: label }, name);
  };
  const map = h("div", { class: "map13", role: "img", "aria-label": `${title} by the two highest cards` });
  fill(map, values.map(cell));
  fill(box, h("h2", {}, title), map, small(HELP));
}
