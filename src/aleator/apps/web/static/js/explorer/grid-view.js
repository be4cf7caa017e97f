// What the grid of an explored node shows in each class: actions, EV, equity, or how much of it gets there.

import { CLASSES } from "../cards.js";
import { h } from "../dom.js";
import { chips, mixText, number, percent } from "../format.js";
import { heat, plain, split } from "../grid.js";

const LEAST = 1e-4; // hands below which a class is not here

// a function from a class to what its cell shows
export function describeCells({ node, side, show, chosen, acting, colours }) {
  const player = node.players[side];
  const describe = cellKind({ node, player, show, acting, colours });
  return (index) => {
    const dim = player.weights[index] <= LEAST;
    const base = { dim, selected: index === chosen, size: `100% ${fullness(player.of_range[index])}%` };
    return { ...base, ...(dim ? { label: `${CLASSES[index]}, not here` } : describe(index)) };
  };
}

const fullness = (share) => Math.max(share > LEAST ? 12 : 0, Math.round(100 * Math.min(1, share)));

function cellKind({ node, player, show, acting, colours }) {
  if (show === "range" || (show === "actions" && !acting)) return rangeCell(player);
  if (show === "actions") return actionCell(node, colours);
  return show === "ev" ? valueCell(player.evs, player, EV) : valueCell(player.equities, player, EQUITY);
}

const rangeCell = (player) => (index) => {
  const share = player.of_range[index];
  const label = `${CLASSES[index]}, ${percent(share)} of it gets here`;
  return { background: plain("var(--range)"), text: share < 0.995 ? String(Math.round(100 * share)) : "", label };
};

const actionCell = (node, colours) => (index) => {
  const mix = node.policy.map((row) => row[index]);
  return { background: split(mix, colours), label: `${CLASSES[index]}: ${mixText(node.actions, mix)}` };
};

const EV = { name: "EV", text: chips, said: chips, bounds: (values) => [Math.min(...values), Math.max(...values)] };
const EQUITY = {
  name: "equity",
  text: (value) => String(Math.round(100 * value)),
  said: (value) => percent(value),
  bounds: () => [0, 1],
};

function valueCell(values, player, { name, text, said, bounds }) {
  const [low, high] = bounds(values.filter((value, index) => value !== null && player.weights[index] > LEAST));
  return (index) => {
    const value = values[index];
    if (value === null) return { label: CLASSES[index] };
    const background = plain(heat((value - low) / (high - low || 1)));
    return { size: "100% 100%", background, text: text(value), label: `${CLASSES[index]}: ${name} ${said(value)}` };
  };
}

// a class in words, under the grid
export function caption({ node, side, acting }, index) {
  const player = node.players[side];
  const name = h("b", {}, CLASSES[index]);
  if (player.weights[index] <= LEAST) return [name, " does not get here."];
  const [ev, equity] = [player.evs[index], player.equities[index]];
  const mix = node.policy.map((row) => row[index]);
  return [
    name,
    ` ${number(player.weights[index], 3)} hands`,
    ev !== null && ` · EV ${chips(ev)}`,
    equity !== null && ` · equity ${percent(equity)}`,
    acting && h("span", { class: "mix" }, mixText(node.actions, mix, " · ")),
  ];
}
