import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
const { actions, handPicture, result } = await import("#js/play/felt.js");
const { isQuick } = await import("#js/play/lobby.js");
const { review, shownActions } = await import("#js/play/review.js");
const { runningSums } = await import("#js/play/score.js");
const { moveOfKey } = await import("#js/play/table.js");

const OPTIONS = [
  { label: "c", name: "check", kind: "call" },
  { label: "b50", name: "bet 50", kind: "raise" },
];

test("keys are moves: letters by kind, numbers by place, N for the next deal", () => {
  const deal = { over: false, options: OPTIONS };
  assert.equal(moveOfKey("c", deal, 0), "c");
  assert.equal(moveOfKey("2", deal, 0), "b50");
  assert.equal(moveOfKey("2", deal, 6), null, "with dice, numbers are no moves");
  assert.equal(moveOfKey("f", deal, 0), null);
  assert.equal(moveOfKey("n", deal, 0), null);
  assert.equal(moveOfKey("N", { over: true, options: [] }, 0), "deal");
});

test("bids that are too low cannot be made, the others can", () => {
  const moves = [];
  const options = [{ label: "1x4" }, { label: "2x1" }, { label: "liar" }];
  const box = actions(4, { hand: "3", options }, (label) => moves.push(label));
  const bids = box.classes("bid");
  assert.equal(bids.length, 2 * 4);
  const open = bids.filter((bid) => !bid.disabled);
  assert.deepEqual(
    open.map((bid) => bid.dataset.label),
    ["1x4", "2x1"],
  );
  open[1].fire("click");
  box.classes("challenge")[0].fire("click");
  assert.deepEqual(moves, ["2x1", "liar"]);
  const first = actions(4, { hand: "3", options: [{ label: "1x1" }] }, () => {});
  assert.ok(first.classes("challenge")[0].disabled, "there is no bid yet");
});

test("hands are dice or cards, hidden until they are shown", () => {
  assert.equal(handPicture({ game: "d", faces: 6, count: 2 }, null, "").childNodes.length, 2);
  assert.equal(handPicture({ game: "holdem", faces: 0 }, null, "").childNodes.length, 2);
  assert.equal(handPicture({ game: "holdem", faces: 0 }, "AsKh", "").textContent, "A♠K♥");
  assert.equal(handPicture({ game: "kuhn", faces: 0 }, "Q", "").textContent, "Q");
});

test("a result is told with its unit", () => {
  const text = (won) => result(won, "points", () => {}).childNodes[0].textContent;
  assert.deepEqual([2, -1, 0].map(text), ["You win 2 points", "You lose 1 point", "A tie"]);
});

test("the score adds up deal by deal", () => {
  const results = [
    [1, 0.5, 0],
    [-2, 0.1, 0],
  ];
  assert.deepEqual(runningSums(results, 0), [
    [0, 0],
    [1, 1],
    [2, -1],
  ]);
});

test("quick presets are rivers and turns that are not solved yet", () => {
  const river = { name: "River", spot: { board: "Qs Jh 2h 8c 3d" } };
  assert.ok(isQuick(river, []));
  assert.ok(!isQuick(river, [{ name: "River" }]));
  assert.ok(!isQuick({ name: "Flop", spot: { board: "Qs Jh 2h" } }, []));
});

test("of many actions only those that matter are reviewed", () => {
  const options = Array.from({ length: 10 }, (_, at) => ({ label: `${at}` }));
  const policy = [0.5, 0.496, 0.004, 0, 0, 0, 0, 0, 0, 0];
  assert.deepEqual(shownActions({ options, taken: 7, policy, values: policy }), [0, 1, 7]);
  assert.deepEqual(shownActions({ options: options.slice(0, 3), taken: 0, policy, values: policy }), [0, 1, 2]);
});

test("a review tells what was given up, and the agent's belief", () => {
  const belief = { form: "bars", hands: ["J", "Q"], shares: [0.25, 0.75], truth: 0.75 };
  const own = { who: "you", taken: 0, options: OPTIONS, policy: [0, 1], values: [-1, 1], given_up: 2, why: "Because." };
  const steps = [
    { who: "deal", belief },
    { ...own, belief },
  ];
  const deal = { steps, hand: "Q", won: -1, skill: -2, luck: 1, expected: 0 };
  const text = h("div", {}, review({ deal, unit: "points" }, 0)).textContent;
  assert.match(text, /you gave up 2/);
  assert.match(text, /This deal: −1.00, of which −2.00 is play and \+1.00 luck/);
  assert.match(text, /You: checkgave up 2Because\./);
  assert.match(text, /your hand: 75 %/);
});
