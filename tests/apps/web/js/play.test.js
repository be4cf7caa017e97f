import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
const { actions, handPicture, result } = await import("#js/play/felt.js");
const { isQuick } = await import("#js/play/lobby.js");
const { partsOfDeal, review, shownActions } = await import("#js/play/review.js");
const { runningSums } = await import("#js/play/score.js");
const { diceOf, moveOfKey } = await import("#js/play/table.js");

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
  const text = (won) => result(won, { unit: "points" }, () => {}).childNodes[0].textContent;
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

const BELIEF = { form: "bars", hands: ["J", "Q"], shares: [0.25, 0.75], truth: 0.75 };
const MISTAKE = {
  who: "you", taken: 0, options: OPTIONS, policy: [0, 1], values: [-1, 1], given_up: 2, slack: 0.005, why: "Because.",
  belief: BELIEF,
}; // prettier-ignore

test("a review begins with the costliest decision, and adds up", () => {
  const small = { ...MISTAKE, given_up: 0.5, why: "Hardly." };
  const steps = [{ who: "deal", belief: BELIEF }, small, MISTAKE];
  const deal = { steps, hand: "Q", won: -1, skill: -2.5, luck: 1.5, expected: 0, given_up: 2.5 };
  const box = h("div", {}, review({ deal, unit: "points" }, 0, "It draws."));
  assert.match(box.textContent, /Result−1.00=your seat's value0.00−given up2.50\+luck\+1.50/);
  assert.match(box.textContent, /What cost mostYou: checkgave up 2Because\./);
  assert.match(box.textContent, /It draws\./);
  assert.match(box.textContent, /your hand: 75 %/);
});

test("what is shown of a deal adds up after rounding", () => {
  const { won, expected, lost, luck } = partsOfDeal({ won: 1, expected: -0.0555, given_up: 0.1251, luck: 1.1806 }, 2);
  assert.equal(won, Number((expected - lost + luck).toFixed(2)));
});

test("a hand that the equilibrium never brings here has no policy, but a worth", () => {
  const step = { ...MISTAKE, policy: null, note: "It never gets here." };
  const deal = { steps: [step], hand: "Q", won: 1, expected: 0, given_up: 2 };
  const text = h("div", {}, review({ deal, unit: "points" }, 0)).textContent;
  assert.match(text, /It never gets here\./);
  assert.doesNotMatch(text, /equilibrium/);
  const unjudged = { ...step, values: null, given_up: 0 };
  const said = h(
    "div",
    {},
    review({ deal: { ...deal, steps: [unjudged], given_up: 0 }, unit: "points" }, 0),
  ).textContent;
  assert.match(said, /not judged/);
});

test("a match tells the dice that both have, and who has won", () => {
  const round = { deal: { hand: "3", seat: 1 }, match: { playing: "liars-dice:2+1x4", dice: [1, 2], won: [0, 0] } };
  assert.deepEqual(diceOf(round), [1, 2]);
  assert.deepEqual(diceOf({ ...round, match: { playing: "liars-dice:2x4" } }), [2, 2]);
  assert.deepEqual(diceOf({ deal: { hand: "3" }, match: null }), [1, 1]);
  const text = (won, match) => result(won, { unit: "points", match }, () => {}).childNodes[0].textContent;
  assert.equal(text(-1, round.match), "You lose a die: you have 1 die, the agent 2 dice");
  assert.equal(text(1, { dice: [1, 0], won: [2, 1] }), "You win the match; matches 2 : 1");
});
