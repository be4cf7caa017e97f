// A table of three to six: everybody around the board, you below it, the next to act on your left.

import { card, cards } from "../cards.js";
import { h } from "../dom.js";
import { amount, inWords } from "../units.js";
import { face, YOU } from "./face.js";
import { felt, lastWords, middle, pile, winsAt } from "./felt.js";

// where the others sit, from your left on; places are numbered clockwise from yours
const PLACES = { 3: [0, 2, 4], 4: [0, 2, 3, 4], 5: [0, 1, 2, 4, 5], 6: [0, 1, 2, 3, 4, 5] };

// what players call the seats; the button has a button
const SHORT = {
  "small blind": "SB", "big blind": "BB", "under the gun": "UTG", hijack: "HJ", cutoff: "CO", button: "",
}; // prettier-ignore

// a colour for a name, always the same
export const hueOf = (title) => [...title].reduce((sum, letter) => sum * 31 + letter.codePointAt(0), 7) % 360;

// [seat, place] of everybody, you first
export function placesOf({ seat, seats }) {
  const places = PLACES[seats.length] ?? seats.map((_, number) => number);
  return places.map((place, number) => [(seat + number) % seats.length, place]);
}

function seatCards(hand, at, seat) {
  const step = hand.steps[at];
  if (step.folded[seat] && seat !== hand.seat) return null;
  const isShown = seat === hand.seat || at === hand.steps.length - 1;
  const known = isShown && hand.seats[seat].cards;
  return known ? cards(known, "small") : h("span", { class: "cards" }, card(null, "small"), card(null, "small"));
}

function ringSeat(hand, at, [seat, place]) {
  const step = hand.steps[at];
  const { title, position } = hand.seats[seat];
  const isYou = seat === hand.seat;
  const wins = winsAt(hand, at)[seat];
  const said = wins ? `wins ${wins}` : lastWords(hand.steps, at)[seat];
  const marks = [
    step.to_act === seat && "turn",
    step.folded[seat] && "folded",
    isYou && "you",
    wins && "winner",
  ].filter(Boolean);
  return h(
    "div",
    { class: `ring-seat place-${place} ${marks.join(" ")}`, title: position },
    h("div", { class: "ring-cards" }, seatCards(hand, at, seat)),
    h(
      "div",
      { class: "ring-who" },
      face(isYou ? YOU : { face: hueOf(title), level: 3 }, 30),
      h(
        "span",
        {},
        h("b", {}, title, h("small", { class: "position" }, SHORT[position] ?? position)),
        h("span", { class: "stack-chips" }, amount(step.stacks[seat], hand.big_blind)),
      ),
      position === "button" && h("span", { class: "dealer", title: "The button acts last" }, "D"),
    ),
    h(
      "div",
      { class: "ring-said" },
      said && h("span", {}, inWords(said, hand.big_blind)),
      pile(step.bets[seat], hand.big_blind, step.player === seat),
    ),
  );
}

function ringFelt(hand, at, { isThinking = false } = {}) {
  const thinks = h("div", { class: "thinking-dots", role: "status" }, "They think", h("i"), h("i"), h("i"));
  return h(
    "div",
    { class: "poker-table ring" },
    placesOf(hand).map((who) => ringSeat(hand, at, who)),
    h("div", { class: "ring-middle" }, middle(hand, at), hand.own_name && h("small", {}, hand.own_name)),
    isThinking && thinks,
  );
}

// the table of a hand, for two or for several
export const tableOf = (hand, at, rival, options) =>
  hand.seats.length > 2 ? ringFelt(hand, at, options) : felt(hand, at, rival, options);
