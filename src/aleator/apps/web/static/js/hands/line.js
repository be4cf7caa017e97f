// What was done in a hand so far, street by street, in words.

import { cards } from "../cards.js";
import { fill, h, panel } from "../dom.js";
import { capitalised } from "../format.js";
import { amount, inWords } from "../units.js";

// [{ street, pot, dealt, acts: [{ who, text }] }]: the pot at the start of the street, and the cards that came
export function streetsOf({ seat, seats, steps }, title) {
  const found = [];
  const isRing = seats.length > 2;
  steps.forEach(({ kind, player, text, board, pot }, at) => {
    if (at === 0) found.push({ street: "Preflop", pot, dealt: "", acts: [] });
    else if (kind === "board") {
      const dealt = board.slice(steps[at - 1].board.length).trim();
      found.push({ street: capitalised(text), pot, dealt, acts: [] });
    }
    if (player === null || player === undefined) return;
    const who = player === seat ? "you" : isRing ? seats[player].title : title;
    found.at(-1).acts.push({ who, text });
  });
  return found.filter(({ acts }, number) => acts.length > 0 || number > 0);
}

// what somebody did, as it is said: you fold, Tara folds
export const doneBy = (who, text) =>
  ["you", "they"].includes(who) ? text : text.replace(/^(fold|check|call|bet|raise)\b/, "$1s");

export function makeLine() {
  const element = panel("hand-line");
  element.hidden = true;

  function show(hand, title) {
    const streets = streetsOf(hand, title);
    element.hidden = streets.length === 0;
    const said = ({ who, text }) => h("span", {}, h("b", {}, who), ` ${doneBy(who, inWords(text, hand.big_blind))}`);
    const row = ({ street, pot, dealt, acts }, number) => [
      h("dt", {}, street, number > 0 && h("small", {}, ` ${amount(pot, hand.big_blind)}`)),
      h("dd", {}, acts.length ? acts.map(said) : cards(dealt, "tiny")),
    ];
    fill(element, h("h2", {}, "This hand"), h("dl", { class: "told" }, streets.map(row)));
  }

  return { element, show };
}
