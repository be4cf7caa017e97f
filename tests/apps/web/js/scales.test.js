import assert from "node:assert/strict";
import { test } from "node:test";

import { bounds, isDrawn, makeScale, tickLabel, ticks } from "#js/scales.js";

test("a scale takes the ends to the ends, and logarithms to equal steps", () => {
  const linear = makeScale(false, [0, 10], [100, 200]);
  assert.deepEqual([0, 5, 10].map(linear), [100, 150, 200]);
  const logarithmic = makeScale(true, [1, 100], [0, 2]);
  assert.deepEqual([1, 10, 100].map(logarithmic), [0, 1, 2]);
  assert.equal(makeScale(false, [3, 3], [0, 1])(3), 0, "one value is no division by zero");
});

test("linear marks are round, inside, and about as many as wanted", () => {
  assert.deepEqual(ticks(false, 0, 1, 5), [0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  for (const [low, high] of [
    [-3.7, 12.9],
    [0, 1e6],
    [0.001, 0.0011],
    [1, 86],
  ]) {
    const found = ticks(false, low, high, 5);
    assert.ok(found.length >= 2 && found.length <= 6, `${found}`);
    assert.ok(found.every((value) => value >= low - 1e-9 && value <= high * 1.000001));
  }
  assert.ok(Object.is(ticks(false, -1, 1, 5)[2], 0), "never −0");
});

test("logarithmic marks are powers of ten, or 1, 2, 5 within a decade or two", () => {
  const powers = ticks(true, 1e-6, 1, 10).map((value) => Math.log10(value));
  assert.deepEqual(powers.map(Math.round), [-6, -5, -4, -3, -2, -1, 0]);
  assert.ok(powers.every((power) => Math.abs(power - Math.round(power)) < 1e-9));
  assert.deepEqual(ticks(true, 1, 30, 5), [1, 2, 5, 10, 20]);
  assert.ok(ticks(true, 1e-12, 1, 5).length <= 6);
  assert.deepEqual(ticks(true, 3, 4, 5), [3, 4], "at least the ends");
});

test("marks are called as people write them", () => {
  assert.equal(tickLabel(25_000, false), "25k");
  assert.deepEqual(
    [1, 1000, 0.01, 1e-5, 1e4, 1e6, 1e9, 20_000, 5e6, 0.2, 5e-5].map((value) => tickLabel(value, true)),
    ["1", "1000", "0.01", "10⁻⁵", "10k", "1M", "10⁹", "20k", "5M", "0.2", "5·10⁻⁵"],
  );
});

test("bounds leave out what cannot be drawn, and have room", () => {
  assert.deepEqual(bounds([1, null, 3, NaN], false), [1, 3]);
  assert.deepEqual(bounds([0, -1, 5, 50], true), [5, 50]);
  assert.deepEqual(bounds([], true), [0.1, 1]);
  assert.deepEqual(bounds([7], false), [6, 8]);
  assert.deepEqual(bounds([0, 10], false, 0.1), [-1, 11]);
  assert.ok(!isDrawn(0, true) && isDrawn(0, false) && !isDrawn(null, false));
});
