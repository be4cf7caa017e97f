import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { actionColours, card, cards, CLASS_SIZES, CLASSES, deckKeys, dice, die, stack } = await import("#js/cards.js");

test("the classes are those of the server's grid", () => {
  assert.equal(new Set(CLASSES).size, 169);
  assert.deepEqual([CLASSES[0], CLASSES[1], CLASSES[13], CLASSES[14], CLASSES[168]], ["AA", "AKs", "AKo", "KK", "22"]);
  assert.equal(
    CLASS_SIZES.reduce((a, b) => a + b, 0),
    1326,
  );
});

test("cards show rank and suit, hidden ones nothing", () => {
  assert.equal(card("Th").textContent, "10♥");
  assert.equal(card("K").textContent, "K");
  assert.equal(card(null).getAttribute("aria-label"), "a hidden card");
  assert.equal(cards("Qs Jh 2h").childNodes.length, 3);
  assert.equal(cards("AsKh").childNodes.length, 2);
});

test("a die has as many pips as its face says", () => {
  for (let face = 1; face <= 7; face += 1) assert.equal(die(face).tags("circle").length, face);
  assert.equal(die(null).textContent, "?");
  assert.equal(dice("361", 6).classes("wild").length, 1);
});

test("a deck has a key per card, which says its card", () => {
  const pressed = [];
  const keys = deckKeys(
    (one) => pressed.push(one),
    (one) => ({ disabled: one === "As" }),
  );
  assert.equal(keys.length, 52);
  assert.equal(keys.filter((key) => key.disabled).length, 1);
  keys[3].fire("click");
  assert.deepEqual(pressed, [keys[3].dataset.card]);
});

test("actions have colours: folds, calls, and bets from light to dark", () => {
  const kinds = (...names) => names.map((kind) => ({ kind }));
  assert.deepEqual(actionColours(kinds("fold", "call", "raise")), ["var(--fold)", "var(--call)", "var(--bet-2)"]);
  const many = actionColours(kinds(...Array(7).fill("raise")));
  assert.equal(many[0], "var(--bet-1)");
  assert.equal(many.at(-1), "var(--bet-5)");
});

test("a bar leaves out what is never taken", () => {
  assert.equal(stack([0.5, 0, 0.5], ["a", "b", "c"]).childNodes.length, 2);
});
