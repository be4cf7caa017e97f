import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
const { toldApart } = await import("#js/reports/apart.js");
const { cellOf, drawMap, means } = await import("#js/reports/map.js");
const { meanOver } = await import("#js/reports/mean.js");

const flop = (cards, { suits = "rainbow", chance, reached, ev }) => ({
  cards,
  chance,
  texture: { suits },
  root: { reached: 1, ev: [ev, 100 - ev] },
  node: { reached, ev: [ev, 100 - ev] },
});
const FLOPS = [
  flop("As 7h 2d", { chance: 0.5, reached: 0.2, ev: 60 }),
  flop("Ah 7d 3c", { chance: 0.25, reached: 0, ev: null }),
  flop("Ks Qs 2s", { suits: "monotone", chance: 0.25, reached: 0.8, ev: 40 }),
];
const OOP = ({ ev }) => ev[0];

test("a mean counts flops by how likely they are, and the place on them", () => {
  const whole = FLOPS.filter(({ root }) => root.ev[0] !== null);
  assert.equal(meanOver(whole, "root", OOP), (0.5 * 60 + 0.25 * 40) / 0.75);
  assert.ok(Math.abs(meanOver(FLOPS, "node", OOP) - (0.1 * 60 + 0.2 * 40) / 0.3) < 1e-9);
  assert.equal(meanOver(FLOPS.slice(2), "root", OOP), 40, "only those that are shown");
  assert.equal(meanOver([FLOPS[1]], "node", OOP), null, "it is never reached");
});

test("a map has the two highest cards of a flop, the higher one first", () => {
  assert.equal(cellOf(FLOPS[0]), 13 * 7);
  const values = means(FLOPS, "node", OOP);
  assert.deepEqual([values[cellOf(FLOPS[0])], values[cellOf(FLOPS[2])]], [60, 40]);
  assert.equal(values.filter((value) => value !== null).length, 2);
  const box = h("div");
  drawMap(box, { flops: FLOPS, place: "node", title: "EV", read: OOP, format: String });
  const names = box.tags("span").map((cell) => cell.textContent);
  assert.deepEqual(names.filter(Boolean).sort(), ["A7", "KQ"]);
});

test("solutions of one name are told apart by what differs, else by their times", () => {
  const spot = { board: "Qs Jh 2h 8c 3d", pot: 100, stack: 300, min_bet: 1, oop: "AA", ip: "KK", river: {} };
  const bets = { oop: { bet: ["50%"] }, ip: { bet: ["50%"] } };
  const job = (id, name, changes, created = 1e9) => ({ id, name, created, spot: { ...spot, ...changes } });
  const told = toldApart([
    job("a", "River", {}),
    job("b", "River", { stack: 900 }),
    job("c", "Sizes", {}),
    job("d", "Sizes", { river: bets }),
    job("e", "Twice", {}),
    job("f", "Twice", { oop: "QQ" }, 1e9 + 60),
    job("j", "At once", {}),
    job("k", "At once", {}),
    job("g", "Alone", {}),
    job("h", "Board", {}),
    job("i", "Board", { board: "As Jh 2h 8c 3d" }),
  ]);
  const names = new Map(told.map(({ id, name }) => [id, name]));
  assert.equal(names.get("a"), "River · pot 100, 300 behind");
  assert.equal(names.get("b"), "River · pot 100, 900 behind");
  assert.deepEqual([names.get("c"), names.get("d")], ["Sizes · river both: no bets", "Sizes · river both: bets 50%"]);
  assert.match(names.get("e"), /^Twice · Sep \d+, 2001, \d/);
  assert.notEqual(names.get("e"), names.get("f"));
  assert.match(names.get("j"), /^At once · Sep \d+, 2001, .* · no\. 1$/);
  assert.match(names.get("k"), /· no\. 2$/);
  assert.deepEqual([names.get("g"), names.get("h"), names.get("i")], ["Alone", "Board", "Board"]);
});
