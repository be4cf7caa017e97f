// Cards, dice, hand classes and the colours of actions.

import { button, h, s } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };
export const DECK = Object.keys(SUITS).flatMap((suit) => [...RANKS].map((rank) => rank + suit));

function className(i, j) {
  const [row, column] = [RANKS[i], RANKS[j]];
  if (i === j) return row + row;
  return i < j ? `${row + column}s` : `${column + row}o`;
}

function classSize(name) {
  if (name.length === 2) return 6;
  return name.endsWith("s") ? 4 : 12;
}

// The 169 classes as a 13 x 13 grid has them: suited above the diagonal, offsuit below.
export const CLASSES = [...RANKS].flatMap((_, i) => [...RANKS].map((__, j) => className(i, j)));
export const CLASS_SIZES = CLASSES.map(classSize);

const rankText = (rank) => (rank === "T" ? "10" : rank);

export function card(text, size = "") {
  if (!text) return h("span", { class: `card back ${size}`, "aria-label": "a hidden card" });
  const [rank, suit] = [text.slice(0, -1), text.slice(-1)];
  if (!SUITS[suit]) return h("span", { class: `card plain ${size}`, "aria-label": text }, h("b", {}, text));
  const properties = { class: `card suit-${suit} ${size}`, "aria-label": text };
  return h("span", properties, h("b", {}, rankText(rank)), h("i", {}, SUITS[suit]));
}

export function cards(text, size = "") {
  const all = text.includes(" ") ? text.split(" ") : (text.match(/../g) ?? []);
  const shown = all.filter(Boolean).map((one) => card(one, size));
  return h("span", { class: "cards" }, shown);
}

// 52 keys, one per card; each gets the properties that `describe` gives its card
export function deckKeys(onpress, describe) {
  return DECK.map((one) => {
    const [rank, suit] = one;
    const properties = { class: `key suit-${suit}`, dataset: { card: one }, "aria-label": one, ...describe(one) };
    return button([rankText(rank), h("i", {}, SUITS[suit])], () => onpress(one), properties);
  });
}

// where the pips of each face are, x and y in turn
const PIPS = {
  1: [16, 16],
  2: [10, 10, 22, 22],
  3: [9, 9, 16, 16, 23, 23],
  4: [10, 10, 22, 10, 10, 22, 22, 22],
  5: [10, 10, 22, 10, 16, 16, 10, 22, 22, 22],
  6: [10, 9, 22, 9, 10, 16, 22, 16, 10, 23, 22, 23],
  7: [10, 9, 22, 9, 10, 16, 16, 16, 22, 16, 10, 23, 22, 23],
};

function pips(face) {
  const found = [];
  for (let at = 0; at < PIPS[face].length; at += 2) {
    found.push(s("circle", { cx: PIPS[face][at], cy: PIPS[face][at + 1], r: 2.7 }));
  }
  return found;
}

export function die(face, { wild = false, size = "" } = {}) {
  const label = face ? `a ${face}${wild ? ", wild" : ""}` : "a hidden die";
  const properties = { viewBox: "0 0 32 32", class: `die ${size} ${wild ? "wild" : ""}`, role: "img" };
  return s(
    "svg",
    { ...properties, "aria-label": label },
    s("rect", { x: 1.5, y: 1.5, width: 29, height: 29, rx: 7 }),
    face ? pips(face) : s("text", { x: 16, y: 22, "text-anchor": "middle" }, "?"),
  );
}

export function dice(text, faces, size = "") {
  const shown = [...text].map((face) => die(Number(face), { wild: Number(face) === faces, size }));
  return h("span", { class: "dice" }, shown);
}

const BETS = [1, 2, 3, 4, 5].map((place) => `var(--bet-${place})`);
const FIXED = { fold: "var(--fold)", call: "var(--call)", challenge: "var(--bet-4)" };

// One colour per action: folds blue, checks and calls green, bets from orange to dark red.
export function actionColours(actions) {
  const bets = actions.filter((action) => action.kind === "raise").length;
  let seen = 0;
  return actions.map(({ kind }) => {
    if (FIXED[kind]) return FIXED[kind];
    const place = bets <= 1 ? 1 : Math.round((seen * (Math.min(bets, 5) - 1)) / (bets - 1));
    seen += 1;
    return BETS[Math.min(place, BETS.length - 1)];
  });
}

// A bar split among shares of 1.
export function stack(shares, colours, title) {
  const part = (share, at) =>
    share > 0.0005 && h("span", { style: { "flex-grow": String(share), background: colours[at] } });
  return h("span", { class: "stack", title }, shares.map(part));
}
