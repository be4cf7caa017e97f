import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { h } = await import("#js/dom.js");
const { amountAt, keyMove, placeOf, usualSize } = await import("#js/hands/controls.js");
const { chipsOf, felt, lastWords } = await import("#js/hands/felt.js");
const { filtered, foundInFile, lostFacts } = await import("#js/hands/files.js");
const { decisionItem, gradeTable, ungradedList, verdict } = await import("#js/hands/grades.js");
const { positionOf, rate } = await import("#js/hands/history.js");
const { doneBy, makeLine, streetsOf } = await import("#js/hands/line.js");
const { afterMove } = await import("#js/hands/pending.js");
const { tableOf } = await import("#js/hands/ring-felt.js");

const LEGAL = { fold: true, call: 150, min: 300, max: 10_000, verb: "raise", sizes: [{ name: "pot", amount: 650 }] };

const step = (changes) => ({
  kind: "deal", player: null, text: "", board: "", pot: 150, bets: [100, 50], stacks: [9900, 9950], street: 0, to_act: 1,
  ...changes,
}); // prettier-ignore

const HAND = {
  number: 1, seat: 1, cards: "AsKs", other_cards: "QdQc", big_blind: 100, over: true, showdown: true,
  own_name: "ace high", other_name: "a pair of queens", legal: null, won: -100,
  steps: [
    step(),
    step({ kind: "call", player: 1, text: "call 50", bets: [100, 100], pot: 200, to_act: 0 }),
    step({ kind: "board", text: "flop", board: "7h 4c 2d", bets: [0, 0], pot: 200, street: 1, to_act: 0 }),
  ],
}; // prettier-ignore

test("the slider goes from the least raise to all-in, finely where bets are small", () => {
  assert.equal(amountAt(0, LEGAL), 300);
  assert.equal(amountAt(1000, LEGAL), 10_000);
  assert.ok(amountAt(500, LEGAL) < 2500);
  for (const chips of [300, 650, 2500, 10_000]) {
    const again = amountAt(placeOf(chips, LEGAL), LEGAL);
    assert.ok(Math.abs(again - chips) <= 50, `${chips} became ${again}`);
  }
  assert.equal(placeOf(500, { min: 500, max: 500 }), 1000);
});

test("keys are moves", () => {
  const hand = { over: false, legal: LEGAL };
  assert.equal(keyMove("f", hand, 650), "f");
  assert.equal(keyMove("C", hand, 650), "c");
  assert.equal(keyMove("r", hand, 650), "r650");
  assert.equal(keyMove("1", hand, 650), "size 650");
  assert.equal(keyMove("9", hand, 650), null);
  assert.equal(keyMove("f", { over: false, legal: { ...LEGAL, fold: false } }, 0), null);
  assert.equal(keyMove("r", { over: false, legal: { ...LEGAL, min: null } }, 0), null);
  assert.equal(keyMove("n", { over: true, legal: null }, 0), "deal");
  assert.equal(keyMove("c", { over: false, legal: null }, 0), null, "it is the other's turn");
});

test("a bet is a pile of a few chips", () => {
  assert.deepEqual(chipsOf(1650), [1000, 500, 100, 50]);
  assert.equal(chipsOf(20_000).length, 4);
  assert.deepEqual(chipsOf(0), []);
});

test("what was said last belongs to its street", () => {
  assert.deepEqual(lastWords(HAND.steps, 1), ["", "call 50"]);
  assert.deepEqual(lastWords(HAND.steps, 2), ["", ""]);
});

test("the other's cards are hidden until the last step", () => {
  const rival = { title: "Tara" };
  assert.equal(felt(HAND, 1, rival).classes("back").length, 2);
  const last = felt(HAND, 2, rival);
  assert.equal(last.classes("back").length, 0);
  assert.match(last.textContent, /a pair of queens/);
  assert.match(felt(HAND, 1, rival, { isThinking: true }).textContent, /Tara thinks/);
});

test("a grade tells what each action is worth, and what was given up", () => {
  const actions = [
    { name: "fold", kind: "fold", policy: 0.9, value: 0, best: true },
    { name: "call 150", kind: "call", policy: 0.1, value: -0.75, best: false },
  ];
  const text = h("div", {}, gradeTable({ actions, taken: 1 })).textContent;
  assert.match(text, /fold90 %0.00 bb/);
  assert.match(text, /call 150 ✓10 %−0.75 bb/);
  assert.equal(verdict({ given_up: 0.75, mistake: true }).textContent, "gave up 0.75 bb");
  assert.equal(verdict({ given_up: 0, mistake: false }).textContent, "best");
  const near = [{ best: false }];
  const verdictOf = (behind, tried) =>
    verdict({ given_up: 0, behind, mistake: false, actions: tried, taken: 0 }).textContent;
  assert.equal(verdictOf(0.004, near), "one of the best");
  assert.equal(verdictOf(0.02), "fine, 0.02 bb from the best");
});

test("a hand that was played out has errors, a blueprint only how often it acts", () => {
  const fold = { name: "fold", kind: "fold", value: 0, error: 1.234, best: false };
  const call = { name: "call 150", kind: "call", value: 2.5, error: 0, best: true };
  const text = h("div", {}, gradeTable({ actions: [fold, call], taken: null })).textContent;
  assert.match(text, /worth± to the bestfold0.00 bb± 1.23 bbcall 150\+2.50 bb$/);
  const both = [{ ...fold, policy: 0.25 }];
  assert.match(h("div", {}, gradeTable({ actions: both, taken: 0 })).textContent, /the blueprint plays.*25 %/);
  const known = [{ name: "fold", kind: "fold", policy: 1 }];
  assert.match(h("div", {}, gradeTable({ actions: known, taken: null })).textContent, /the blueprint playsfold100 %/);
});

test("what the blueprint does and nobody can judge is shown without a value", () => {
  const actions = [{ name: "call 250", kind: "call", policy: 0.9, value: 12.5, error: 0, best: true }];
  const untried = [{ name: "raise to 800", kind: "raise", policy: 0.1 }];
  const text = h("div", {}, gradeTable({ actions, untried, taken: 0 })).textContent;
  assert.match(text, /call 250 ✓90 %\+12.50 bb/);
  assert.match(text, /raise to 80010 %––– The blueprint has hardly ever met/);
  const alone = h("div", {}, gradeTable({ actions: [{ ...actions[0], policy: undefined }], taken: 0 })).textContent;
  assert.ok(!alone.includes("hardly ever"));
});

test("a loss that may be chance is not called one of the best", () => {
  const actions = [
    { name: "fold", value: 0, error: 0, best: true },
    { name: "call 150", value: -0.35, error: 0.62, best: false },
  ];
  const told = verdict({ given_up: 0, behind: 0, mistake: false, actions, taken: 1 }).textContent;
  assert.equal(told, "as good, as far as this can tell");
});

test("decisions without a grade are listed with the reason", () => {
  const reason = "the blueprint has hardly ever met what was done";
  const ungraded = [{ step: 3, street: "preflop", name: "raise to 800", reason, big_blind: 100 }];
  const text = ungradedList(ungraded).textContent;
  assert.match(text, /1 without a grade/);
  assert.match(text, /Preflop, raise to .*: the blueprint has hardly ever met what was done\./);
});

test("who has won is seen at the last step, at a table of two and of several", () => {
  const won = { ...HAND, winners: [300, 0] };
  assert.ok(!felt(won, 1, { title: "Tara" }).textContent.includes("wins"));
  assert.match(felt(won, 2, { title: "Tara" }).textContent, /wins 3/);
  const seats = ["Tara", "you", "Nell"].map((title) => ({ title, position: "button", cards: "" }));
  const steps = HAND.steps.map((one) => ({ ...one, bets: [0, 0, 0], stacks: [1, 1, 1], folded: [0, 0, 0] }));
  const ring = tableOf({ ...HAND, seats, steps, winners: [300, 0, 0] }, 2, { title: "" }, {});
  assert.match(ring.textContent, /wins 3/);
  assert.equal(ring.classes("winner").length, 1);
});

test("others fold, check, call, bet and raise in the third person", () => {
  assert.equal(doneBy("Tara", "fold"), "folds");
  assert.equal(doneBy("Nell", "call 5.9 bb"), "calls 5.9 bb");
  assert.equal(doneBy("you", "raise to 2.5 bb"), "raise to 2.5 bb");
  assert.equal(doneBy("they", "bet 3 bb"), "bet 3 bb");
});

test("seats are called the same in lists and at the table", () => {
  assert.deepEqual(
    [0, 1].map((seat) => positionOf({ seat, players: 2 })),
    ["big blind", "button"],
  );
  assert.equal(positionOf({ seat: 3, players: 6 }), "hijack");
  assert.equal(positionOf({ seat: 3, players: 5 }), "cutoff");
  assert.equal(positionOf({ seat: 3, players: 4 }), "button");
});

test("a decision before the flop leads to its chart, a later one to a spot", () => {
  const actions = [{ name: "fold", kind: "fold", policy: 1, value: 0, best: true }];
  const decision = { street: "preflop", board: "", hand: "As Ah", pot: 1.5, actions, taken: 0, given_up: 0 };
  const chart = { stack: 100, path: "r:0:b300", exact: true };
  const made = (changed) => decisionItem({ ...decision, ...changed }, { openSpot: () => {} });
  const before = made({ chart });
  assert.equal(before.tags("a")[0].getAttribute("href") ?? before.tags("a")[0].href, "#/preflop/100/r:0:b300");
  assert.ok(!before.textContent.includes("Open as a spot") && before.textContent.includes("preflop"));
  assert.match(made({ chart: { ...chart, exact: false } }).textContent, /The nearest chart/);
  assert.equal(made({ chart: null }).tags("a").length, 0, "there is none on later streets");
  assert.match(made({ board: "Ks 7h 2d", street: "flop" }).textContent, /Open as a spot/);
});

test("decisions are filtered by street and by whether they are mistakes", () => {
  const decisions = [
    { street: "flop", mistake: true },
    { street: "river", mistake: false },
  ];
  assert.equal(filtered(decisions, { street: "", mistakes: false }).length, 2);
  assert.deepEqual(filtered(decisions, { street: "river", mistakes: false }), [decisions[1]]);
  assert.deepEqual(filtered(decisions, { street: "", mistakes: true }), [decisions[0]]);
});

test("a file offers its hero first, and says what can be read if it has no hands", () => {
  const chosen = [];
  const show = (found) =>
    h(
      "div",
      {},
      foundInFile("mine.txt", found, (name) => chosen.push(name)),
    );
  const players = [["ann", 3], ["bob", 3]]; // prettier-ignore
  const box = show({ hands: 3, players, hero: "ann", problems: ["line 9: the hand breaks off"] });
  assert.match(box.textContent, /3 hands\. The file shows the cards of ann\. Whose .*1 hand could not be used/);
  const [first, second] = box.tags("button");
  assert.ok(first.classList.contains("primary") && !second.classList.contains("primary"));
  second.fire("click");
  assert.deepEqual(chosen, ["bob"]);
  assert.doesNotMatch(show({ hands: 3, players, hero: null, problems: [] }).textContent, /cards of/);
  const none = show({ hands: 0, players: [], hero: null, problems: [] });
  assert.match(none.textContent, /No hands were found in mine\.txt\. .*\.phhs.*\.log.*PokerStars/);
  assert.equal(none.tags("button").length, 0);
});

test("what mistakes cost is in big blinds, in all and per hand", () => {
  const told = (...numbers) => h("dl", {}, lostFacts(...numbers)).tags("dd").map((one) => one.textContent); // prettier-ignore
  assert.deepEqual(told(5842, 4), ["5,842 bb", "1,461 bb"]);
  assert.deepEqual(told(5.842, 100), ["5.84 bb", "0.0584 bb"]);
  assert.deepEqual(told(0, 0), ["0 bb", "0 bb"]);
});

test("a rate has its band where there is one", () => {
  assert.equal(rate({ fair: 120.4, band: 1500.2 }), "+120 ± 1,500");
  assert.equal(rate({ fair: -20, band: null }), "–", "of a few hands it would say nothing");
  assert.equal(rate({ fair: null, band: null }), "–");
});

test("the size that is offered first is half of the pot, before the flop the second one", () => {
  const named = (...names) => ({ sizes: names.map((name, at) => ({ name, amount: 100 * at })) });
  assert.equal(usualSize(named("⅓ pot", "½ pot", "2× pot", "all-in")).name, "½ pot");
  assert.equal(usualSize(named("2 bb", "2.5 bb", "all-in")).name, "2.5 bb");
  assert.equal(usualSize(named("2.5×", "3×", "all-in")).name, "3×");
  assert.equal(usualSize(named("pot", "2× pot", "all-in")), undefined);
});

test("what was done is told street by street, with the pot at the start of each", () => {
  const hand = { ...HAND, seats: [{ title: "Tara" }, { title: "You" }] };
  assert.deepEqual(streetsOf(hand, "Tara"), [
    { street: "Preflop", pot: 150, dealt: "", acts: [{ who: "you", text: "call 50" }] },
    { street: "Flop", pot: 200, dealt: "7h 4c 2d", acts: [] },
  ]);
  assert.deepEqual(streetsOf({ ...hand, steps: [step()] }, "Tara"), []);
  const line = makeLine();
  line.show({ ...hand, steps: [step()] }, "Tara");
  assert.ok(line.element.hidden);
  line.show(hand, "Tara");
  assert.ok(!line.element.hidden && line.element.textContent.includes("you call 50"));
});

test("after an all-in each street keeps its name and shows its card", () => {
  const turn = step({ kind: "board", text: "turn", board: "7h 4c 2d Kc", street: 1 });
  const river = step({ kind: "board", text: "river", board: "7h 4c 2d Kc 9s", street: 1 });
  const streets = streetsOf({ ...HAND, seats: [{}, {}], steps: [...HAND.steps, turn, river] }, "Tara");
  const told = streets.map(({ street, dealt }) => [street, dealt]);
  assert.deepEqual(told.slice(1), [["Flop", "7h 4c 2d"], ["Turn", "Kc"], ["River", "9s"]]); // prettier-ignore
});

test("what you do is on the table before the answer comes", () => {
  const hand = {
    ...HAND,
    over: false,
    legal: { ...LEGAL, call: 50, min: 200 },
    steps: [step({ folded: [false, false] })],
  };
  const last = (move) => afterMove(hand, move).steps.at(-1);
  assert.deepEqual(last("r250").bets, [100, 250]);
  assert.deepEqual([last("r250").text, last("r250").pot, last("r250").to_act], ["raise to 250", 350, null]);
  assert.deepEqual([last("r10000").text, last("c").text, last("f").text], ["all-in 10,000", "call 50", "fold"]);
  assert.deepEqual([last("c").stacks[1], last("f").stacks[1]], [9900, 9950]);
  assert.deepEqual(last("f").folded, [false, true]);
  assert.equal(afterMove(hand, "deal"), null);
  assert.equal(afterMove(hand, "undo 3"), null);
  assert.equal(felt(afterMove(hand, "r250"), 1, { title: "Tara" }).classes("fresh").length, 2, "the bet and the word");
});

test("only cards that have just come are dealt", () => {
  const rival = { title: "Tara" };
  assert.equal(felt(HAND, 2, rival).classes("fresh").length, 3);
  const later = {
    ...HAND,
    steps: [...HAND.steps, step({ kind: "check", player: 0, text: "check", board: "7h 4c 2d", bets: [0, 0] })],
  };
  assert.equal(felt(later, 3, rival).classes("fresh").length, 1, "what was said");
});
