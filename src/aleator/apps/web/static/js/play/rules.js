// The rules of what is played, in a few sentences.

import { h } from "../dom.js";

const RULES = {
  dice: (faces) => [
    "Each player rolls in secret. Bids say how many dice of both players show a face at least; " +
      `${faces}s are wild and count as any face.`,
    "Each bid must be higher than the last: a higher face, or more dice. Instead of bidding you may call the last bid " +
      "a lie; then all dice are shown, and who was wrong loses a point.",
  ],
  kuhn: () => [
    "Three cards: jack, queen, king. Each antes 1 and gets one card. One bet of 1 can be made; the higher card wins.",
  ],
  leduc: () => [
    "Six cards: two jacks, two queens, two kings. Each antes 1 and gets one card. After a round of betting (bets of 2) " +
      "a card is shown, and a second round follows (bets of 4). A pair with the card on the table beats everything.",
  ],
  holdem: () => [
    "A spot of no-limit hold'em with the ranges it was solved for. Winnings are counted less half of the pot at the " +
      "start, so that they are zero on average if the spot is even.",
  ],
};

const MATCH =
  "Who loses a round loses a die and begins the next one; who has no die left loses the match. Only winning or losing a " +
  "round matters then, so an equilibrium of each round is one of the whole match.";

export function rules(game, faces) {
  const text = [...(RULES[faces ? "dice" : game]?.(faces) ?? []), ...(game.startsWith("dice-match") ? [MATCH] : [])];
  const lines = text.map((line) => h("p", {}, line));
  return h("details", { class: "panel rules", open: innerWidth > 900 }, h("summary", {}, "Rules"), lines);
}
