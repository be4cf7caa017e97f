// Cards, dice, hand classes and the colours of actions.

import { h, s } from "./dom.js";

export const RANKS = "AKQJT98765432";
export const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

// The 169 classes as a 13 x 13 grid has them: suited above the diagonal, offsuit below.
export const CLASSES = [...RANKS].flatMap((row, i) =>
  [...RANKS].map((column, j) => (i === j ? row + row : i < j ? `${row + column}s` : `${column + row}o`)),
);
export const CLASS_SIZES = CLASSES.map((name) => (name.length === 2 ? 6 : name.endsWith("s") ? 4 : 12));

export function card(text, size = "") {
  if (!text) return h("span", { class: `card back ${size}`, "aria-label": "a hidden card" });
  const [rank, suit] = [text.slice(0, -1), text.slice(-1)];
  if (!SUITS[suit]) return h("span", { class: `card plain ${size}`, "aria-label": text }, h("b", {}, text));
  return h("span", { class: `card suit-${suit} ${size}`, "aria-label": text }, h("b", {}, rank === "T" ? "10" : rank), h("i", {}, SUITS[suit]));
}

export function cards(text, size = "") {
  const found = text.includes(" ") ? text.split(" ") : text.match(/../g) ?? [];
  return h("span", { class: "cards" }, found.filter(Boolean).map((one) => card(one, size)));
}

const PIPS = {
  1: [[16, 16]],
  2: [[10, 10], [22, 22]],
  3: [[9, 9], [16, 16], [23, 23]],
  4: [[10, 10], [22, 10], [10, 22], [22, 22]],
  5: [[10, 10], [22, 10], [16, 16], [10, 22], [22, 22]],
  6: [[10, 9], [22, 9], [10, 16], [22, 16], [10, 23], [22, 23]],
  7: [[10, 9], [22, 9], [10, 16], [16, 16], [22, 16], [10, 23], [22, 23]],
};

export function die(face, { wild = false, size = "" } = {}) {
  const body = s("svg", { viewBox: "0 0 32 32", class: `die ${size} ${wild ? "wild" : ""}`, role: "img", "aria-label": face ? `a ${face}${wild ? ", wild" : ""}` : "a hidden die" });
  body.append(s("rect", { x: 1.5, y: 1.5, width: 29, height: 29, rx: 7 }));
  if (face) for (const [x, y] of PIPS[face]) body.append(s("circle", { cx: x, cy: y, r: 2.7 }));
  else body.append(s("text", { x: 16, y: 22, "text-anchor": "middle" }, "?"));
  return body;
}

export function dice(text, faces, size = "") {
  return h("span", { class: "dice" }, [...text].map((face) => die(Number(face), { wild: Number(face) === faces, size })));
}

const BETS = ["var(--bet-1)", "var(--bet-2)", "var(--bet-3)", "var(--bet-4)", "var(--bet-5)"];

// One colour per action: folds blue, checks and calls green, bets from orange to dark red.
export function actionColours(actions) {
  const bets = actions.filter((action) => action.kind === "raise").length;
  let seen = 0;
  return actions.map((action) => {
    if (action.kind === "fold") return "var(--fold)";
    if (action.kind === "call") return "var(--call)";
    if (action.kind === "challenge") return "var(--bet-4)";
    const place = bets <= 1 ? 1 : Math.round((seen * (Math.min(bets, 5) - 1)) / (bets - 1));
    seen += 1;
    return BETS[Math.min(place, BETS.length - 1)];
  });
}

// A bar split among shares of 1.
export function stack(shares, colours, title) {
  const bar = h("span", { class: "stack", title });
  shares.forEach((share, index) => {
    if (share > 0.0005) bar.append(h("span", { style: { "flex-grow": String(share), background: colours[index] } }));
  });
  return bar;
}
