// The board of a spot: 52 keys and a text that say the same.

import { card, DECK, deckKeys } from "../cards.js";
import { fill, h, toast } from "../dom.js";

export const boardCards = (text) => text.replaceAll(/[ ,]/g, "").match(/../g) ?? [];

const normal = (one) => one[0].toUpperCase() + one[1].toLowerCase();

// the board with a card more, or less if it was there; null if it is full
export function toggled(text, one) {
  const on = boardCards(text);
  if (on.includes(one)) return on.filter((other) => other !== one).join(" ");
  return on.length < 5 ? [...on, one].join(" ") : null;
}

export function drawnBoard(count) {
  const deck = [...DECK];
  const drawn = Array.from({ length: count }, () => deck.splice(Math.floor(Math.random() * deck.length), 1)[0]);
  return drawn.join(" ");
}

// onchange(text, typed): typed is whether it was written, and must not be written over
export function makeBoard(onchange) {
  let board = "";
  const press = (one) => {
    const next = toggled(board, one);
    if (next === null) toast("A board has at most five cards.");
    else onchange(next, false);
  };
  const keys = deckKeys(press, () => ({ "aria-pressed": "false" }));
  const oninput = () => onchange(text.value, true);
  const text = h("input", { type: "text", class: "board-text", "aria-label": "Board as text", oninput });
  const chosen = h("div", { class: "board-cards" });
  const deck = h("div", { class: "deck", role: "group", "aria-label": "Board" }, keys);

  function show(next, typed) {
    board = next;
    if (!typed) text.value = board;
    const on = new Set(boardCards(board).map(normal));
    for (const key of keys) key.setAttribute("aria-pressed", on.has(key.dataset.card));
    const shown = [...on].map((one) => card(one, "medium"));
    fill(chosen, shown, on.size < 3 && h("span", { class: "muted" }, `${3 - on.size} more`));
    return on.size;
  }

  const draw = () => onchange(drawnBoard(Math.min(5, Math.max(3, boardCards(board).length))), false);
  return { elements: [h("div", { class: "board-row" }, chosen, text), deck], show, draw };
}
