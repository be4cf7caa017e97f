// What changes from one solution to another, class by class: more of something in one colour, less in another.

import { CLASSES } from "../cards.js";
import { h } from "../dom.js";
import { apart, changed, percent, signed } from "../format.js";
import { plain } from "../grid.js";
import { SIDES } from "../spot.js";

export const SHOWN = [
  ["raise", "Bets"],
  ["call", "Checks, calls"],
  ["fold", "Folds"],
  ["ev", "EV"],
];
const FULL_EV = 0.1; // of the pot: a change in full colour
const LEAST = 0.005; // of a full change: what is not written

// a colour for a change of -1 to 1
export function tint(share) {
  const size = Math.min(1, Math.abs(share));
  const colour = share < 0 ? "var(--fold)" : "var(--bet-3)";
  return `color-mix(in oklab, ${colour} ${(100 * size).toFixed(1)}%, var(--sunk))`;
}

export const pairOf = (found, shown, side, index) =>
  shown === "ev"
    ? [0, 1].map((at) => found.class_evs[at][side][index])
    : [0, 1].map((at) => found.class_kinds[at][found.kinds.indexOf(shown)][index]);

// a function from a class to what its cell shows
export function describeChanges(found, shown, side) {
  const full = shown === "ev" ? FULL_EV * found.pots[0] : 1;
  return (index) => {
    const [first, second] = pairOf(found, shown, side, index);
    const name = CLASSES[index];
    if (first === null && second === null) return { dim: true, label: `${name}, not here` };
    if (first === null || second === null) {
      const where = first === null ? "second" : "first";
      return { background: plain("var(--line)"), size: "100% 100%", label: `${name}, only in the ${where}` };
    }
    const change = second - first;
    const isSmall = Math.abs(change) < LEAST * full;
    const text = shown === "ev" ? signed(change, 1) : apart(100 * first, 100 * second);
    const background = plain(tint(change / full));
    return { background, size: "100% 100%", text: isSmall ? "" : text, label: `${name}: ${text}` };
  };
}

// what was done on the way to a node, as people say it
export const lineInWords = (said) =>
  said.map(({ player, name }) => (player < 0 ? name : `${SIDES[player]}: ${name}`)).join(", ") || "The first decision";

// a class in words, under the grid
export function caption(found, side, index) {
  const acts = found.player >= 0;
  const kinds = SHOWN.slice(0, -1).map(([kind, title]) => [title, acts && pairOf(found, kind, side, index)]);
  const said = kinds
    .filter(([, pair]) => pair && pair[0] !== null && pair[1] !== null)
    .map(([title, pair]) => ` · ${title} ${percent(pair[0])} → ${percent(pair[1])}`);
  const [first, second] = pairOf(found, "ev", side, index);
  const evs = ` · EV of ${SIDES[side]} ${changed(first, second)}`;
  return [h("b", {}, CLASSES[index]), said, evs];
}
