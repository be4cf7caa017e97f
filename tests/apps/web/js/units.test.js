import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { amount, inUnit, inWords, keepUnit, luckText, signedAmount, typedChips, unitChoice, wonText } =
  await import("#js/units.js");
const { finer, timesChips } = await import("#js/editor/finer.js");
const { sizesInUnit, takeSizes } = await import("#js/editor/size-units.js");
const { makeAmounts } = await import("#js/editor/amounts.js");
const { problemOf } = await import("#js/editor/chips-field.js");
const { comparedInUnit, reportInUnit } = await import("#js/reports/in-unit.js");
const { lineInWords } = await import("#js/reports/changes.js");
const { nodeInUnit } = await import("#js/explorer/evs.js");

const inBlinds = () => localStorage.setItem("unit", "bb");
const inChips = () => localStorage.setItem("unit", "chips");

const makeSpot = () => ({
  pot: 55,
  stack: 975,
  min_bet: 10,
  added: ["r:0:c:b33"],
  rake: { rate: 0.05, cap: 30 },
  flop: { oop: { bet: ["33%", "25c"], raise: [], donk: null }, ip: { bet: ["all-in"], raise: ["2.5x"], donk: null } },
  lock: { "r:0:b25": { c: 0.5, b75: "AA" } },
  solve: {},
});

test("amounts are chips unless big blinds were chosen", () => {
  inChips();
  assert.equal(amount(12_550, 100), "12,550");
  assert.equal(signedAmount(-250, 100), "−250");
  assert.equal(wonText(250, 100), "+250 chips");
  assert.equal(inWords("raise to 2,500", 100), "raise to 2,500");
  assert.equal(inWords("all-in 10000", 100), "all-in 10,000");
  inBlinds();
  assert.equal(amount(12_550, 100), "125.5 bb");
  assert.equal(signedAmount(-250, 100), "−2.5 bb");
  assert.equal(signedAmount(0, 100), "0 bb");
  assert.equal(signedAmount(null, 100), "–");
  assert.equal(wonText(250, 100), "+2.5 bb");
  assert.equal(luckText(3908, 1223, 100), "+12.23 bb without luck, +26.85 bb luck");
  assert.equal(inUnit(333, 100), 3.33);
  assert.equal(inWords("raise to 2,500", 100), "raise to 25 bb");
  assert.equal(inWords("check", 100), "check");
});

test("until a unit is chosen, whole hands are in big blinds and spots in chips", () => {
  const { location } = globalThis;
  const before = location.hash;
  localStorage.removeItem("unit");
  location.hash = "#/solve";
  assert.equal(amount(250, 100), "250");
  for (const page of ["#/play/hunl", "#/hands", "#/preflop/100/r:0"]) {
    location.hash = page;
    assert.equal(amount(250, 100), "2.5 bb");
  }
  keepUnit();
  location.hash = "#/solve?spot=1";
  assert.equal(amount(250, 100), "2.5 bb", "a spot that a hand was opened as");
  location.hash = before;
});

test("the switch is kept", () => {
  inChips();
  let drawn = 0;
  const [, blinds] = unitChoice(() => (drawn += 1)).tags("input");
  blinds.fire("change");
  assert.equal(localStorage.getItem("unit"), "bb");
  assert.equal(drawn, 1);
});

test("what is typed is in the unit that was chosen, or in the one behind it", () => {
  inBlinds();
  assert.equal(typedChips("2.5", 100), 250);
  assert.equal(typedChips("2,5 bb", 100), 250);
  assert.equal(typedChips("300c", 100), 300);
  assert.equal(typedChips("1,000 chips", 100), 1000);
  inChips();
  assert.equal(typedChips("700", 100), 700);
  assert.equal(typedChips("2.5bb", 100), 250);
  assert.ok(Number.isNaN(typedChips("much", 100)));
  assert.ok(Number.isNaN(typedChips("", 100)));
});

test("chips become finer where an amount is not whole, and the spot stays the same", () => {
  assert.deepEqual([25, 12.5, 0.25].map(finer), [1, 10, 100]);
  const spot = makeSpot();
  timesChips(spot, 10);
  assert.deepEqual([spot.pot, spot.stack, spot.min_bet, spot.rake.cap], [550, 9750, 100, 300]);
  assert.deepEqual(spot.flop.oop.bet, ["33%", "250c"]);
  assert.deepEqual(spot.flop.ip.raise, ["2.5x"]);
  assert.deepEqual(spot.added, ["r:0:c:b330"]);
  assert.deepEqual(spot.lock, { "r:0:b250": { c: 0.5, b750: "AA" } });
});

test("the editor takes decimals of big blinds, and the spot keeps whole chips", () => {
  inBlinds();
  const spot = makeSpot();
  let told = 0;
  const amounts = makeAmounts({ threads: 1, bits: 32 }, [], (edit) => edit(spot), () => (told += 1)); // prettier-ignore
  amounts.build(spot);
  const field = (label) => amounts.element.tags("input").find((one) => one.getAttribute("aria-label") === label);
  assert.deepEqual([field("Pot").value, field("Stack behind").value], ["5.5", "97.5"]);
  field("Pot").value = "6.5";
  field("Pot").fire("input");
  assert.deepEqual([spot.pot, spot.min_bet, told], [65, 10, 0]);
  field("Pot").value = "6.25";
  field("Pot").fire("input");
  assert.deepEqual([spot.pot, spot.stack, spot.min_bet, told], [625, 9750, 100, 1]);
  assert.deepEqual([field("Stack behind").value, field("Big blind, chips").value], ["97.5", "100"]);
  field("Pot").value = "a lot";
  field("Pot").fire("input");
  assert.match(problemOf(spot), /“a lot” is not an amount/);
  assert.match(problemOf({ ...makeSpot(), stack: 97.5 }), /Stack behind: 97.5 chips/);
  assert.equal(problemOf(makeSpot()), null);
  inChips();
});

test("exact sizes are typed and shown in big blinds, too", () => {
  const spot = makeSpot();
  assert.equal(takeSizes(spot, { street: "flop", side: "oop", kind: "bet" }, ["2.5bb", "50%"]), 1);
  assert.deepEqual(spot.flop.oop.bet, ["25c", "50%"]);
  assert.equal(takeSizes(spot, { street: "flop", side: "ip", kind: "bet" }, ["2.25bb"]), 10);
  assert.deepEqual([spot.flop.ip.bet, spot.flop.oop.bet, spot.min_bet], [["225c"], ["250c", "50%"], 100]);
  inBlinds();
  assert.deepEqual(sizesInUnit(spot.flop.oop.bet, spot.min_bet), ["2.5bb", "50%"]);
  inChips();
  assert.deepEqual(sizesInUnit(spot.flop.oop.bet, spot.min_bet), ["250c", "50%"]);
});

test("a node is told in big blinds", () => {
  const node = {
    pot: 55,
    line: [{ kind: "decision", pot: 55, actions: [{ name: "bet 25" }] }],
    actions: [{ name: "bet 25", ev: 30 }],
    players: [{ ev: 30, evs: [null, 12] }],
  };
  inBlinds();
  const told = nodeInUnit(node, 10);
  assert.equal(told.pot, "5.5 bb");
  assert.deepEqual(told.line[0].actions, [{ name: "bet 2.5 bb" }]);
  assert.deepEqual(told.actions, [{ name: "bet 2.5 bb", ev: 3 }]);
  assert.deepEqual(told.players, [{ ev: 3, evs: [null, 1.2] }]);
  inChips();
  assert.equal(nodeInUnit(node, 10).actions[0].ev, 30);
});

test("reports and comparisons are told in big blinds", () => {
  const place = { ev: [30, null], actions: [{ name: "bet 25", frequency: 0.5 }] };
  const raise = [{ player: 0, name: "bet 25" }];
  const report = {
    spot: { min_bet: 10 },
    said: raise,
    mean: { root: place, node: null },
    flops: [{ root: place, node: place }],
  };
  inBlinds();
  const told = reportInUnit(report);
  assert.deepEqual(told.mean.root, { ev: [3, null], actions: [{ name: "bet 2.5 bb", frequency: 0.5 }] });
  assert.equal(told.mean.node, null);
  assert.equal(lineInWords(told.said), "OOP: bet 2.5 bb");
  assert.deepEqual(told.flops[0].node.ev, [3, null]);
  const said = [
    { player: 0, name: "bet 25" },
    { player: 1, name: "call" },
    { player: -1, name: "2c" },
  ];
  const found = { pots: [50, 60], evs: [[5], [6]], class_evs: [[[10, null]]], actions: [[{ name: "bet 25" }]] };
  const compared = comparedInUnit({ ...found, said, lines: [{ path: "r:0:b25", said: said.slice(0, 1) }] }, 10);
  assert.equal(lineInWords(compared.said), "OOP: bet 2.5 bb, IP: call, 2c");
  assert.equal(lineInWords(compared.lines[0].said), "OOP: bet 2.5 bb");
  assert.equal(lineInWords([]), "The first decision");
  assert.deepEqual([compared.pots, compared.evs, compared.class_evs], [[5, 6], [[0.5], [0.6]], [[[1, null]]]]);
  assert.equal(compared.actions[0][0].name, "bet 2.5 bb");
  inChips();
  assert.deepEqual(reportInUnit(report).mean.root.ev, [30, null]);
});
