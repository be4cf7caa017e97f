// What was done in a hand so far, street by street, in words.

import { fill, h, panel } from "../dom.js";
import { amount, inWords } from "../units.js";

const STREETS = ["Preflop", "Flop", "Turn", "River"];

// [{ street, pot, acts: [{ who, text }] }]: the pot is that at the start of the street
export function streetsOf({ seat, seats, steps }, title) {
  const found = [];
  const isRing = seats.length > 2;
  steps.forEach(({ kind, player, text, street, pot }, at) => {
    if (at === 0 || kind === "board") found.push({ street: STREETS[street] ?? text, pot, acts: [] });
    if (player === null || player === undefined) return;
    const who = player === seat ? "you" : isRing ? seats[player].title : title;
    found.at(-1).acts.push({ who, text });
  });
  return found.filter(({ acts }, number) => acts.length > 0 || number > 0);
}

export function makeLine() {
  const element = panel("hand-line");
  element.hidden = true;

  function show(hand, title) {
    const streets = streetsOf(hand, title);
    element.hidden = streets.length === 0;
    const said = ({ who, text }) => h("span", {}, h("b", {}, who), ` ${inWords(text, hand.big_blind)}`);
    const row = ({ street, pot, acts }, number) => [
      h("dt", {}, street, number > 0 && h("small", {}, ` ${amount(pot, hand.big_blind)}`)),
      h("dd", {}, acts.length ? acts.map(said) : "–"),
    ];
    fill(element, h("h2", {}, "This hand"), h("dl", { class: "told" }, streets.map(row)));
  }

  return { element, show };
}
