import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser, installServer } from "./fake-dom.js";

installBrowser();
const { boardCards, drawnBoard, makeBoard, toggled } = await import("#js/editor/board.js");
const { makeAmounts, spotRules } = await import("#js/editor/amounts.js");
const { parseSizes } = await import("#js/editor/sizes.js");
const { makeEstimate } = await import("#js/editor/estimate.js");
const { makePast } = await import("#js/editor/past.js");
const { handsOf } = await import("#js/suits.js");
const { addHands, countHands, makePainter, rangeText } = await import("#js/painter.js");
const { CLASSES, DECK } = await import("#js/cards.js");
const { describeSpot } = await import("#js/spot.js");

const settle = (time) => new Promise((resolve) => setTimeout(resolve, time));

test("spots are solved by the algorithms that can, and by their variants", () => {
  const algorithms = [
    { name: "dcfr", summary: "discounted", holdem: true, variants: [{ name: "dcfr:1.5,0,4", summary: "steeper" }] },
    { name: "mccfr", summary: "sampled", holdem: false, variants: [{ name: "mccfr:chance", summary: "" }] },
  ];
  const rules = spotRules(algorithms);
  assert.deepEqual(rules, [["dcfr", "dcfr: discounted"], ["dcfr:1.5,0,4", "dcfr:1.5,0,4: steeper"]]); // prettier-ignore
  const amounts = makeAmounts({ threads: 1, bits: 32 }, rules, () => {});
  amounts.build({ solve: { rule: "my:rule" }, rake: {} });
  const names = amounts.element.tags("option").map((one) => one.value);
  assert.deepEqual(names, ["dcfr", "dcfr:1.5,0,4", "my:rule"], "a spot keeps its own");
});

test("a card goes onto the board and off it again, up to five", () => {
  assert.equal(toggled("Qs Jh", "2h"), "Qs Jh 2h");
  assert.equal(toggled("QsJh,2h", "Jh"), "Qs 2h");
  assert.equal(toggled("Qs Jh 2h 8c 3d", "4d"), null);
});

test("a board is drawn without a card twice", () => {
  const drawn = boardCards(drawnBoard(5));
  assert.equal(new Set(drawn).size, 5);
  assert.ok(drawn.every((one) => DECK.includes(one)));
});

test("the keys and the text of a board say the same", () => {
  const changes = [];
  const board = makeBoard((text, typed) => changes.push([text, typed]));
  assert.equal(board.show("qs jh 2h", false), 3);
  const [row, deck] = board.elements;
  assert.equal(row.tags("input")[0].value, "qs jh 2h");
  const pressed = deck.childNodes.filter((key) => key.getAttribute("aria-pressed") === "true");
  assert.deepEqual(pressed.map((key) => key.dataset.card).sort(), ["2h", "Jh", "Qs"]);
  deck.childNodes[0].fire("click");
  assert.deepEqual(changes, [[`qs jh 2h ${deck.childNodes[0].dataset.card}`, false]]);
});

test("sizes are read with spaces, commas and none", () => {
  assert.deepEqual(parseSizes("50 %, 100%;all-in", "bet"), ["50%", "100%", "all-in"]);
  assert.deepEqual(parseSizes("  ", "bet"), []);
  assert.equal(parseSizes(" ", "donk"), null, "donks are as bets");
});

test("painted classes are written with their weights", () => {
  const weights = CLASSES.map((name) => ({ AA: 1, AKs: 0.5, 22: 1 / 3 })[name] ?? 0);
  assert.equal(rangeText(weights), "AA,AKs:0.5,22:0.333");
  const mixed = { AKs: { AcKc: 0, AdKd: 1, AhKh: 0.5, AsKs: 0 } };
  assert.equal(rangeText(weights, mixed), "AA,AdKd,AhKh:0.5,22:0.333");
  assert.equal(countHands(weights), 6 + 2 + 2);
  assert.equal(addHands("AA", "KK,QQ", 1), "AA,KK,QQ");
  assert.equal(addHands("", "KK,QQ", 0.5), "KK:0.5,QQ:0.5");
});

test("a range that cannot be read is told, and kept", async () => {
  installServer({ "POST /api/holdem/range": { status: 400, json: { detail: "unknown rank" } } });
  const told = [];
  const painter = makePainter("oop", (text) => told.push(text));
  painter.set("ZZ");
  await settle(250);
  assert.deepEqual(told, ["ZZ"]);
  assert.equal(painter.element.classes("problem-text")[0].textContent, "unknown rank");
});

const FOUND = { fits: true, nodes: [3, 4], hands: [10, 12], memory: 5 * 2 ** 20, free_memory: 1e9, seconds: null };

test("one estimate is asked for at a time, and what changed meanwhile after it", async () => {
  const waiting = [];
  const asked = installServer({
    "POST /api/holdem/estimate": () => new Promise((resolve) => waiting.push(() => resolve(FOUND))),
  });
  const told = [];
  const estimate = makeEstimate(
    () => ({ spot: asked.length }),
    (known) => told.push(known),
  );
  estimate.refresh();
  await settle(300);
  estimate.refresh();
  await settle(300);
  assert.equal(asked.length, 1, "the second waits for the first");
  waiting[0]();
  await settle(300);
  assert.equal(asked.length, 2);
  assert.deepEqual(told, [{ time: "" }, { time: "" }], "nothing is told that was known of the spot before");
  waiting[1]();
  await settle(20);
  assert.deepEqual(told.slice(2), [{ problem: "", time: "" }], "it fits, and the time is still measured");
  assert.match(estimate.element.textContent, /Nodes7Hands10 × 12Memory5.0 MBTime, aboutmeasuring …/);
  estimate.forget();
});

test("a spot is told in words, from its street on", () => {
  const both = { oop: { bet: ["50%"], raise: ["2x"] }, ip: { bet: ["50%"], raise: ["2x"] } };
  const spot = { board: "Qs Jh 2h 8c", pot: 100, stack: 300, oop: "AA", ip: "KK", turn: both };
  const told = describeSpot({ ...spot, river: { oop: { bet: [], donk: ["30%"] } } });
  assert.deepEqual(told, [
    ["Pot", "100, 300 behind"],
    ["OOP", "AA"],
    ["IP", "KK"],
    ["Turn", "both: bets 50%, raises 2x"],
    ["River", "OOP: donks 30%; IP: no bets"],
  ]);
});

test("a class has its hands as the server writes them", () => {
  assert.deepEqual(handsOf("AA"), ["AdAc", "AhAc", "AhAd", "AsAc", "AsAd", "AsAh"]);
  assert.deepEqual(handsOf("AKs"), ["AcKc", "AdKd", "AhKh", "AsKs"]);
  assert.equal(handsOf("AKo").length, 12);
  assert.equal(handsOf("AKo")[0], "AcKd");
});

test("changes are kept to go back to, those in quick succession as one", () => {
  let time = 0;
  const past = makePast(() => time);
  assert.equal(past.take(), null);
  past.keep({ pot: 100 }, { pot: 100 });
  assert.ok(past.isEmpty(), "nothing has changed");
  past.keep({ pot: 100 }, { pot: 1 });
  time += 100;
  past.keep({ pot: 1 }, { pot: 12 });
  time += 1000;
  past.keep({ pot: 12 }, { pot: 120 });
  assert.deepEqual(past.take(), { pot: 12 });
  assert.deepEqual(past.take(), { pot: 100 });
  assert.ok(past.isEmpty());
});
