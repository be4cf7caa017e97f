import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser, installServer } from "./fake-dom.js";

const { location } = installBrowser();
const { CLASSES } = await import("#js/cards.js");
const { mostMixed } = await import("#js/explorer/explorer.js");
const { handsFrom, nodeFrom, runoutsFrom } = await import("#js/explorer/evs.js");
const { caption, describeCells } = await import("#js/explorer/grid-view.js");
const { handsPanel, isBest } = await import("#js/explorer/hands.js");
const { lineSteps } = await import("#js/explorer/line.js");
const { describeEdits, makeLocks, withEdit } = await import("#js/explorer/locks.js");
const { sorted } = await import("#js/explorer/runouts.js");
const { meanOf, placeOf, runoutChart } = await import("#js/explorer/runout-chart.js");
const { summaryPanel } = await import("#js/explorer/summary.js");
const { h } = await import("#js/dom.js");

const ACTIONS = [
  { token: "c", name: "check", kind: "call", frequency: 0.75, ev: 51 },
  { token: "b50", name: "bet 50", kind: "raise", frequency: 0.25, ev: 60 },
];
const rows = (values) => CLASSES.map((name) => values[name] ?? 0);

// A node where the first player has AA, which mixes, and KK, which does not
function makeNode() {
  const player = {
    num_hands: 12, ev: 55, equity: 0.6, weights: rows({ AA: 6, KK: 6 }), of_range: rows({ AA: 1, KK: 0.5 }),
    evs: rows({ AA: 80, KK: 30 }), equities: rows({ AA: 0.9, KK: 0.3 }), types: [],
  }; // prettier-ignore
  const line = [{ path: "r:0", kind: "decision", player: 0, pot: 100, actions: ACTIONS, taken: null }];
  return {
    path: "r:0", board: "Qs Jh 2h 8c 3d", kind: "decision", player: 0, pot: 100, actions: ACTIONS, values: true, line,
    policy: [rows({ AA: 0.4, KK: 1 }), rows({ AA: 0.6, KK: 0 })], players: [player, player],
  }; // prettier-ignore
}

const view = (changes = {}) => ({
  node: makeNode(), side: 0, show: "actions", chosen: 0, acting: true, colours: ["green", "red"], go() {}, ...changes,
}); // prettier-ignore
const AA = 0;
const KK = CLASSES.indexOf("KK");

test("the class that mixes most is looked at first, else the most frequent", () => {
  assert.equal(mostMixed(makeNode(), 0), AA);
  const node = makeNode();
  node.players[1] = { ...node.players[1], weights: rows({ KK: 3, AA: 1 }) };
  assert.equal(mostMixed(node, 1), KK, "who does not act mixes nothing");
});

test("cells show actions, values, or how much of a class gets here", () => {
  const actions = describeCells(view());
  assert.match(actions(AA).background, /green 0.00% 40.00%, red 40.00% 100.00%/);
  assert.equal(actions(AA).label, "AA: check 40 %, bet 50 60 %");
  assert.ok(actions(AA).selected && !actions(KK).selected);
  assert.equal(actions(1).label, "AKs, not here");
  assert.ok(actions(1).dim);
  assert.equal(describeCells(view({ show: "ev" }))(KK).text, "30");
  assert.equal(describeCells(view({ show: "equity" }))(AA).text, "90");
  const range = describeCells(view({ acting: false }))(KK);
  assert.equal(range.text, "50");
  assert.equal(range.size, "100% 50%");
});

test("the caption says what a class does", () => {
  assert.equal(h("p", {}, caption(view(), AA)).textContent, "AA 6 hands · EV 80 · equity 90 %check 40 % · bet 50 60 %");
  assert.equal(h("p", {}, caption(view(), 1)).textContent, "AKs does not get here.");
});

test("the line leads to every action on the way", () => {
  const went = [];
  const line = h("nav", {}, lineSteps(view({ go: (path) => went.push(path) })));
  const actions = line.classes("line-action");
  assert.deepEqual(
    actions.map((action) => action.textContent),
    ["check75 %", "bet 5025 %"],
  );
  actions[1].fire("click");
  assert.deepEqual(went, ["r:0:b50"]);
});

test("a node is summed up, also while its values are not there yet", () => {
  const text = (node) => h("div", {}, summaryPanel(view({ node }))).textContent;
  assert.match(text(makeNode()), /^OOP to actpot 100.*check1.*75.0 %51.*OOP12.*60.0 %55/);
  assert.match(text({ ...makeNode(), values: false }), /75.0 %…/);
});

test("hands show how often and what for; the best action is marked", () => {
  const hands = [{ hand: "AsAh", ev: 80, equity: 0.9, policy: [0.4, 0.6], action_evs: [80, 79.95] }];
  const box = h("div", {}, handsPanel(view(), { hands }));
  assert.deepEqual(
    box.classes("best").map((one) => one.textContent),
    ["80.0", "80.0"],
  );
  assert.match(h("div", {}, handsPanel(view(), { hands: [] })).textContent, /No hand of AA gets here/);
  assert.ok(isBest([1, 5], 1) && !isBest([1, 5], 0) && !isBest([], 0));
});

test("runouts are sorted by rank, equity or EV", () => {
  const cards = [
    { card: "2d", equities: [0.7], evs: [3] },
    { card: "As", equities: [0.4], evs: [null] },
  ];
  const order = (by) => sorted(cards, by).map((row) => row.card);
  assert.deepEqual([order("card"), order("equity"), order("ev")], [["As", "2d"], ["2d", "As"], ["2d", "As"]]); // prettier-ignore
});

test("a chart over runouts has a column for every card, and a click goes there", () => {
  const cards = [
    { card: "As", chance: 0.25, equities: [0.4, 0.6], evs: [4, 6], frequencies: [0.25, 0.75] },
    { card: "2d", chance: 0.75, equities: [0.8, 0.2], evs: [8, null], frequencies: [1, 0] },
  ];
  const found = { player: 0, path: "r:0:c:c", cards, actions: [{ name: "check" }, { name: "bet 5" }] };
  const gone = [];
  const figure = runoutChart(found, ["green", "red"], (one) => gone.push(one));
  const columns = () => figure.classes("column");
  assert.deepEqual(columns().map((one) => one.dataset.card), ["As", "2d"]); // prettier-ignore
  assert.match(columns()[0].textContent, /^As: check 25 %, bet 5 75 %/);
  const [check, bet] = columns()[0]
    .tags("rect")
    .map((one) => Number(one.getAttribute("height")));
  assert.ok(Math.abs(bet - 3 * check) < 1e-9, "three times as often, three times as high");
  columns()[1].fire("click");
  assert.deepEqual(gone, ["2d"]);
  const [, equity, , ip] = figure.tags("input");
  equity.fire("change");
  assert.match(figure.textContent, /mean 70.0 %/);
  assert.equal(meanOf(cards, (row) => row.equities[0]).toFixed(6), "0.700000");
  assert.equal(
    meanOf([], (row) => row.evs[0]),
    null,
  );
  const heights = columns().map((one) => Number(one.tags("circle")[0].getAttribute("cy")));
  assert.ok(heights[1] < heights[0], "what is worth more lies higher");
  ip.fire("change");
  assert.deepEqual(columns().map((one) => one.dataset.card), ["As"], "what is not known is left out"); // prettier-ignore
  assert.ok(placeOf("As").from === 0 && placeOf("2c").from + placeOf("2c").width > 0.999);
  const over = runoutChart({ ...found, player: -1, cards: [] }, [], () => {});
  assert.equal(over.tags("input").length, 3, "nobody acts: there are no actions to show");
});

test("locks collect edits per node, are told, and solved again", async () => {
  const edit = { hands: "AA", policy: [1, 0] };
  const locks = withEdit(withEdit([], "r:0", edit), "r:0", edit);
  assert.deepEqual(locks, [{ path: "r:0", edits: [edit, edit] }]);
  assert.equal(describeEdits([edit]), "AA: 100/0");
  assert.equal(describeEdits([]), "as it plays");
  const asked = installServer({ "POST /api/solutions/x/resolve": { id: "made" } });
  const panel = makeLocks({ id: "x", name: "Spot" }, () => {});
  panel.show(makeNode(), "KK");
  const press = (text) => panel.element.tags("button").find((one) => one.textContent === text).fire("click"); // prettier-ignore
  press("Lock these hands");
  await press("Solve again");
  const made = { name: "Spot, locked", locks: [{ path: "r:0", edits: [{ hands: "KK", policy: [0, 1] }] }] };
  assert.deepEqual(asked[0].body, made);
  assert.equal(location.hash, "#/solve/made");
});

test("EVs count from here, where a fold is worth nothing, or from the root", () => {
  const node = { ...makeNode(), chips: [20, 50] };
  const here = nodeFrom(node, "here");
  assert.equal(here.actions[0].ev, 51 + 20);
  assert.equal(here.players[0].evs[AA], 80 + 20);
  assert.equal(here.players[1].ev, 55 + 50);
  assert.equal(nodeFrom(node, "root"), node);
  const hands = { player: 1, hands: [{ ev: -50, action_evs: [-50, null] }] };
  assert.deepEqual(handsFrom(hands, node, "here").hands[0], { ev: 0, action_evs: [0, null] });
  assert.equal(handsFrom(hands, node, "root").hands[0].ev, -50);
  assert.deepEqual(runoutsFrom({ cards: [{ evs: [1, null] }] }, node, "here").cards[0].evs, [21, null]);
});
