import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
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
