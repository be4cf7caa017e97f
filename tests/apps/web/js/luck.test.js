import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
const { commonDigits, luckOf, rounded } = await import("#js/luck.js");
const { review } = await import("#js/play/review.js");
const { scoreFacts } = await import("#js/play/score.js");
const { luckText, signedAmount } = await import("#js/units.js");

// numbers as a page shows them, without what stands around them
const numbers = (text) =>
  [...text.matchAll(/[+−]?\d[\d,]*(?:\.\d+)?/g)].map(([found]) => Number(found.replaceAll(",", "").replace("−", "-")));

// amounts of all sizes: whole ones, halves, and any
function* amounts(count) {
  let state = 7;
  const draw = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let at = 0; at < count; at += 1) {
    const value = (draw() - 0.5) * 10 ** (1 + (at % 5));
    yield [value, Math.round(value), Math.round(value) + 0.5][at % 3];
  }
}

const same = (first, second) => assert.ok(Math.abs(first - second) < 1e-6, `${first} is not ${second}`);

test("a number is written alike above and below 0", () => {
  assert.equal(rounded(0.5), 1);
  assert.equal(rounded(-0.5), -1);
  assert.equal(rounded(-1.25, 1), -1.3);
  assert.equal(commonDigits([1, -99.96], 1), 0);
  assert.equal(commonDigits([1, -99.94], 1), 1);
  assert.equal(luckOf(1, [0.5]), 0);
});

test("a result of whole hands adds up as it is shown, in chips and in big blinds", () => {
  const results = [...amounts(600)];
  for (const unit of ["chips", "bb"]) {
    localStorage.setItem("unit", unit);
    for (let at = 1; at < results.length; at += 1) {
      const won = Math.round(results[at - 1]);
      const [fair, luck] = numbers(luckText(won, results[at], 100));
      same(fair + luck, numbers(signedAmount(won, 100))[0]);
    }
  }
});

test("a deal and a score add up as they are shown, whatever the unit", () => {
  const all = [...amounts(1200)];
  for (let at = 3; at < all.length; at += 1) {
    const [expected, won, luck] = all.slice(at - 3, at);
    const gift = at % 2 ? all[at] : 0;
    const lost = Math.abs(all[at - 2]) / 3;
    const unit = at % 2 ? "chips" : "points";
    const deal = { steps: [], hand: "Q", won, expected, luck, given_up: lost, given_away: gift };
    const text = h("div", {}, review({ deal, unit }, 0)).textContent;
    const [, sum] = /Result(.*)What the agent saw/.exec(text);
    const signedSum = sum.replace("−the agent's edge", "−").replaceAll(/[=−+](?=[a-z])/g, " ");
    const shown = numbers(signedSum);
    const [result, value, less, ...more] = shown;
    assert.equal(more.length, gift ? 2 : 1);
    same(
      result,
      more.reduce((rest, part) => rest + part, value - less),
    );
    const facts = scoreFacts({ deals: 3, won, skill: expected, given_up: lost }, unit);
    const [total, without, lucky] = facts.slice(1, 4).map(({ textContent }) => numbers(textContent)[0]);
    same(total, without + lucky);
  }
});
