import assert from "node:assert/strict";
import { test } from "node:test";

import { ago, apart, bytes, changed, capitalised, chips, column, mixText, number } from "#js/format.js";
import { percent, precise, seconds, signed } from "#js/format.js";

function check(write, cases) {
  for (const [value, text, ...settings] of cases) assert.equal(write(value, ...settings), text, String(value));
}

test("numbers have the digits that count, and a real minus", () => {
  check(number, [
    [null, "–"],
    [undefined, "–"],
    [NaN, "–"],
    [0, "0"],
    [1234.5, "1,235"],
    [-2.5, "−2.5"],
    [0.12345, "0.123"],
    [0.12345, "0.12", 2],
    [0.00001234, "1.2e−5"],
    [1e6, "1,000,000"],
  ]);
});

test("less than a thousandth of a chip is nothing", () => {
  check(chips, [
    [-1e-8, "0"],
    [4e-4, "0"],
    [0.25, "0.25"],
    [-37.02, "−37"],
    [null, "–"],
  ]);
});

test("numbers of a column have as many decimals as the largest needs", () => {
  assert.deepEqual([77, 77.05, -0.04, null].map(column([77, 77.05, -0.04, null])), ["77.0", "77.1", "0.0", "–"]);
  assert.deepEqual([0.5, -0.25].map(column([0.5, -0.25])), ["0.500", "−0.250"]);
  assert.deepEqual([12_345.6, 1].map(column([12_345.6, 1])), ["12,346", "1"]);
});

test("signs are written, except for nothing", () => {
  check(signed, [
    [1.234, "+1.23"],
    [-0.5, "−0.50"],
    [0.001, "0.00"],
    [123.4, "+123"],
    [null, "–"],
  ]);
});

test("shares are per cent, tiny ones with two digits", () => {
  check(percent, [
    [0.256, "26 %"],
    [0.256, "25.6 %", 1],
    [null, "–"],
  ]);
  check(precise, [
    [0.00297, "0.3 %"],
    [0.0000123, "0.0012 %"],
    [undefined, "–"],
  ]);
});

test("bytes and times have units", () => {
  check(bytes, [
    [1, "1 kB"],
    [3 * 2 ** 20, "3.0 MB"],
    [200 * 2 ** 20, "200 MB"],
    [5.5 * 2 ** 30, "5.50 GB"],
  ]);
  check(seconds, [
    [0, "1 ms"],
    [0.05, "50 ms"],
    [2.34, "2.3 s"],
    [59.6, "60 s"],
    [300, "5.0 min"],
    [7200, "2.0 h"],
    [Infinity, "–"],
    [null, "–"],
  ]);
});

test("times are told from now", () => {
  const now = 1_700_000_000;
  check(ago, [
    [now - 5, "just now", now],
    [now - 130, "2 min ago", now],
    [now - 7300, "2 h ago", now],
    [now - 200_000, "Nov 12, 2023", now],
  ]);
});

test("words and mixtures", () => {
  assert.equal(capitalised("flop"), "Flop");
  assert.equal(mixText([{ name: "fold" }, { name: "call" }], [0.2, 0.8]), "fold 20 %, call 80 %");
});

test("a change is the difference of both numbers as they are shown", () => {
  assert.equal(changed(51.36, 51.148), "51.36 → 51.15 (−0.21)");
  assert.equal(changed(51.364, 51.146), "51.36 → 51.15 (−0.21)", "not −0.22");
  assert.equal(changed(-0.0002, 0.4567), "0.000 → 0.457 (+0.457)");
  assert.equal(changed(12345.67, 12345.61), "12,345.7 → 12,345.6 (−0.1)");
  assert.equal(changed(null, 3), "– → 3");
  assert.deepEqual([apart(33.34, 33.36, 1), apart(33.4, 33.6), apart(33.31, 33.34, 1)], ["+0.1", "+1", "0.0"]);
});
