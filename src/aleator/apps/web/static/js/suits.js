// The hands of one class, suit by suit: what the grid paints as a whole can be changed hand by hand.

import { cards } from "./cards.js";
import { fill, h } from "./dom.js";
import { percent } from "./format.js";

const SUITS = "cdhs"; // in the order in which hands are numbered

// the hands of a class as the server writes them: AKs has four, AKo twelve, AA six
export function handsOf(name) {
  const [high, low, kind] = name;
  const pairs = [...SUITS].flatMap((first) => [...SUITS].map((second) => [first, second]));
  const isHand = ([first, second]) => {
    if (kind === "s") return first === second;
    return kind === "o" ? first !== second : first > second;
  };
  return pairs.filter(isHand).map(([first, second]) => high + first + low + second);
}

// onpress(hand) is called for a hand of the class that is chosen
export function makeSuits(onpress) {
  const element = h("div", { class: "suits", hidden: true, role: "group" });
  const suits = { element, name: "", choose, draw: () => {} };
  let keys = [];

  function choose(name) {
    if (name === suits.name) return;
    suits.name = name;
    element.hidden = false;
    element.setAttribute("aria-label", `Suits of ${name}`);
    keys = handsOf(name).map((hand) => [hand, makeKey(hand)]);
    fill(
      element,
      h("b", {}, name),
      keys.map(([, key]) => key),
    );
  }

  const makeKey = (hand) => h("button", { type: "button", onclick: () => onpress(hand) }, cards(hand, "tiny"));

  suits.draw = (weightOf) => {
    for (const [hand, key] of keys) {
      const weight = weightOf(hand);
      key.setAttribute("aria-pressed", String(weight > 0));
      key.title = `${hand}, weight ${percent(weight)}`;
    }
  };
  return suits;
}
