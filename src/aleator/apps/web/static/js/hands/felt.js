// The table of whole hands: two seats, the board, chips and what was said, at one step of a hand.

import { card, cards } from "../cards.js";
import { h } from "../dom.js";
import { amount, inWords } from "../units.js";
import { face, YOU } from "./face.js";

const CHIPS = [5000, 1000, 500, 100, 50];

// the chips of a bet, the largest first, at most six
export function chipsOf(bet) {
  const found = [];
  let left = bet;
  for (const size of CHIPS) {
    while (left >= size && found.length < 6) {
      found.push(size);
      left -= size;
    }
  }
  return found;
}

// `isFresh`: it was put there just now
export function pile(bet, bigBlind, isFresh = false) {
  if (!bet) return null;
  return h("span", { class: `bet ${isFresh ? "fresh" : ""}` }, chipPile(bet), amount(bet, bigBlind));
}

const chipPile = (bet) =>
  h(
    "span",
    { class: "pile", "aria-hidden": "true" },
    chipsOf(bet).map((size) => h("i", { class: `chip-${size}` })),
  );

// what each player did last on the street of a step
export function lastWords(steps, at) {
  const words = steps[at].bets.map(() => "");
  for (let index = at; index > 0 && steps[index].street === steps[at].street; index -= 1) {
    const { player, text } = steps[index];
    if (player !== null && !words[player]) words[player] = text;
    if (steps[index].kind === "board") break;
  }
  return words;
}

// the chips that each seat has won when a hand is over, at its last step; zeros before
export const winsAt = ({ steps, winners = [] }, at) => (at === steps.length - 1 ? winners : []);

// a seat: who sits there, the chips behind, what was said last
function seatPanel(hand, at, { who, place, title, name, isFresh, ...look }) {
  const step = hand.steps[at];
  const wins = winsAt(hand, at)[place];
  const said = wins ? `wins ${wins}` : lastWords(hand.steps, at)[place];
  return h(
    "div",
    { class: `hand-seat ${who} ${step.to_act === place ? "turn" : ""} ${wins ? "winner" : ""}` },
    face(look),
    h(
      "div",
      { class: "who" },
      h("b", {}, title),
      h("span", { class: "stack-chips" }, amount(step.stacks[place], hand.big_blind)),
      name && h("small", { class: "hand-name" }, name),
    ),
    place === 1 && h("span", { class: "dealer", title: "The button: small blind, acts last after the flop" }, "D"),
    said && h("span", { class: `speech ${isFresh ? "fresh" : ""}` }, inWords(said, hand.big_blind)),
  );
}

const hidden = () => [card(null, "medium"), card(null, "medium")];

// A hand at one of its steps; `rival` has a title and a face.
export function felt(hand, at, rival, { isThinking = false, isFresh = false } = {}) {
  const step = hand.steps[at];
  const [you, other] = [hand.seat, 1 - hand.seat];
  const deals = isFresh ? "dealt" : "";
  const seen = revealed(hand, at);
  const acted = (place) => step.player === place && !isThinking;
  const bet = (place) => h("div", { class: "bet-spot" }, pile(step.bets[place], hand.big_blind, acted(place)));
  return h(
    "div",
    { class: "poker-table" },
    h(
      "div",
      { class: "place" },
      seatPanel(hand, at, { ...rival, who: "other", place: other, name: seen.name, isFresh: acted(other) }),
      h("div", { class: `hole other ${deals}` }, seen.cards),
    ),
    bet(other),
    middle(hand, at),
    bet(you),
    h(
      "div",
      { class: "place" },
      seatPanel(hand, at, {
        who: "you",
        place: you,
        title: "You",
        ...YOU,
        name: ownName(hand, at),
        isFresh: acted(you),
      }),
      h("div", { class: `hole you ${deals}` }, hand.cards && cards(hand.cards, "big")),
    ),
    isThinking && h("div", { class: "thinking-dots", role: "status" }, `${rival.title} thinks`, h("i"), h("i"), h("i")),
  );
}

// what is seen of the other's hand at a step: nothing before the last one
function revealed(hand, at) {
  if (at < hand.steps.length - 1 || !hand.other_cards) return { cards: hidden(), name: "" };
  return { cards: cards(hand.other_cards, "medium"), name: hand.showdown && hand.other_name };
}

const ownName = (hand, at) => (hand.steps[at].board === hand.steps.at(-1).board ? hand.own_name : "");

// the board and the pot; cards that came with this step are dealt
export function middle({ steps, big_blind: bigBlind }, at) {
  const step = steps[at];
  const known = (steps[at - 1]?.board || "").split(" ").filter(Boolean).length;
  const dealt = step.board ? step.board.split(" ") : [];
  const places = [0, 1, 2, 3, 4].map((place) =>
    dealt[place] ? card(dealt[place], place < known ? "big" : "big fresh") : h("span", { class: "card-place" }),
  );
  const inMiddle = step.pot - step.bets.reduce((sum, bet) => sum + bet, 0);
  return h(
    "div",
    { class: "table-middle" },
    h("div", { class: "board", "aria-label": `Board ${step.board || "empty"}` }, places),
    h(
      "p",
      { class: "pot" },
      inMiddle > 0 && chipPile(inMiddle),
      h("span", {}, "Pot "),
      h("b", {}, amount(step.pot, bigBlind)),
    ),
  );
}
