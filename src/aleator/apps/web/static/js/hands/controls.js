// What the player can do: fold, call, raise by a slider, by shares of the pot or by typing; keys for all of them.

import { button, h } from "../dom.js";
import { amount, inUnit, typedChips } from "../units.js";

const STEPS = 1000;

// the slider is finer where bets are small
export function amountAt(place, { min, max }) {
  const share = (place / STEPS) ** 2.5;
  const step = min >= 1000 ? 100 : 50;
  const raw = min + share * (max - min);
  return place >= STEPS ? max : Math.min(max, Math.max(min, Math.round(raw / step) * step));
}

export function placeOf(chips, { min, max }) {
  if (max <= min) return STEPS;
  const share = Math.min(1, Math.max(0, (chips - min) / (max - min)));
  return Math.round(STEPS * share ** (1 / 2.5));
}

// the move that a key stands for: one of the table's, an action, a size; null if there is none
export function keyMove(key, hand, raiseTo) {
  const letter = key.toLowerCase();
  if (hand.over) return { n: "deal", u: "undo" }[letter] ?? null;
  return hand.legal ? (letterMoves(hand.legal, raiseTo)[letter] ?? sizeMove(hand.legal, key)) : null;
}

function letterMoves({ fold, min }, raiseTo) {
  const raise = min === null ? null : `r${raiseTo}`;
  return { f: fold ? "f" : null, c: "c", k: "c", u: "undo", h: "hint", r: raise, b: raise };
}

function sizeMove({ sizes }, key) {
  const size = sizes[Number(key) - 1];
  return size ? `size ${size.amount}` : null;
}

// the size that is offered first: half of the pot, before the flop the second of big blinds or multiples
export function usualSize({ sizes }) {
  return sizes.find(({ name }) => name === "½ pot") ?? sizes.filter(({ name }) => /(bb|×)$/.test(name))[1];
}

// the legal amount nearest to what was typed; the least for what is no number
const allowed = (chips, { min, max }) => Math.min(max, Math.max(min, Math.round(chips) || min));

const key = (text) => h("kbd", {}, text);

export function makeControls(onmove) {
  const element = h("div", { class: "hand-controls" });
  let chosen = 0;
  let typed = null;

  function choose(chips) {
    chosen = chips;
    typed?.(chips);
  }

  function raiseRow(legal, bigBlind) {
    const say = legal.verb === "raise" ? "Raise to" : "Bet";
    const label = h("b", {}, amount(chosen, bigBlind));
    const act = button([`${say} `, label, key("R")], () => onmove(`r${chosen}`), { class: "act raise" });
    const slider = h("input", {
      type: "range", min: 0, max: STEPS, value: placeOf(chosen, legal), "aria-label": "How much",
      oninput: () => choose(amountAt(Number(slider.value), legal)),
    }); // prettier-ignore
    const number = h("input", {
      type: "text", inputMode: "decimal", value: inUnit(chosen, bigBlind), "aria-label": "Amount", class: "chips-input",
      onchange: () => choose(allowed(typedChips(number.value, bigBlind), legal)),
    }); // prettier-ignore
    typed = (chips) => {
      label.textContent = amount(chips, bigBlind);
      slider.value = String(placeOf(chips, legal));
      number.value = String(inUnit(chips, bigBlind));
    };
    const size = ({ name, amount: chips }, at) =>
      button([name, key(String(at + 1))], () => choose(chips), {
        class: "chip size",
        title: `${amount(chips, bigBlind)}, key ${at + 1}`,
      });
    const sizes = h("div", { class: "sizes" }, legal.sizes.map(size));
    return { act, row: h("div", { class: "raise-row" }, sizes, h("div", { class: "slide" }, slider, number)) };
  }

  function show(hand, isBusy) {
    element.inert = isBusy && !hand.over; // hidden, in its place: nothing jumps while the other thinks
    if (element.inert) return;
    element.replaceChildren();
    typed = null;
    if (!isBusy && hand.legal) draw(hand);
  }

  function draw({ legal, big_blind: bigBlind }) {
    const fold = legal.fold && button(["Fold", key("F")], () => onmove("f"), { class: "act fold" });
    const say = legal.call ? `Call ${amount(legal.call, bigBlind)}` : "Check";
    const call = button([say, key("C")], () => onmove("c"), { class: "act call" });
    if (legal.min === null) {
      element.append(h("div", { class: "acts" }, fold || [], call));
      return;
    }
    chosen = usualSize(legal)?.amount ?? legal.min;
    const { act, row } = raiseRow(legal, bigBlind);
    element.append(row, h("div", { class: "acts" }, fold || [], call, act));
  }

  return { element, show, choose, raiseTo: () => chosen };
}
