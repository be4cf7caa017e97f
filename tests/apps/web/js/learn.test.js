import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { nearest } = await import("#js/chart.js");
const { makePicks } = await import("#js/learn/picks.js");
const { makeTree } = await import("#js/learn/tree.js");
const { childrenOf, layOut, reachOf } = await import("#js/learn/tree-layout.js");
const { columnPoints, drawnColumns } = await import("#js/pages/runs.js");

const NODES = [
  { id: 0, parent: -1, actor: 0, label: "", actions: ["check", "bet"], hands: ["J", "Q"] },
  { id: 1, parent: 0, actor: 1, label: "check", actions: ["check", "bet"], hands: ["J", "Q"] },
  { id: 2, parent: 0, actor: -2, label: "bet", actions: [], hands: [] },
  { id: 3, parent: 1, actor: -2, label: "check", actions: [], hands: [] },
  { id: 4, parent: 1, actor: -2, label: "bet", actions: [], hands: [] },
];

test("a parent lies in the middle of its children, one step to the left", () => {
  assert.deepEqual(childrenOf(NODES).get(1), [3, 4]);
  const { places, height } = layOut(NODES);
  const [at, below] = [places.get(1), [places.get(3), places.get(4)]];
  assert.equal(at.y, (below[0].y + below[1].y) / 2);
  assert.ok(below.every(({ x }) => x > at.x));
  assert.ok([...places.values()].every(({ y }) => y > 0 && y < height));
});

test("branches are as wide as they are taken, evenly while there is no policy", () => {
  assert.equal(reachOf(NODES, null).get(3), 0.25);
  const policy = { 0: [[1, 0.5], [0, 0.5]], 1: [[0, 0], [1, 1]] }; // prettier-ignore
  const reach = reachOf(NODES, policy);
  assert.deepEqual([1, 2, 3, 4].map((id) => reach.get(id)), [0.75, 0.25, 0, 0.75]); // prettier-ignore
});

test("a tree shows the policy of a decision, and of another one that is chosen", () => {
  const tree = makeTree();
  tree.element.childNodes[0].clientHeight = 100;
  tree.set({ nodes: NODES, num_nodes: 9, num_infostates: 12 });
  assert.match(tree.element.textContent, /9 public states, 12 infostates; the upper 5 states are drawn\./);
  tree.policy({ value: -1 / 18, policy: { 0: [[1, 0.25], [0, 0.75]], 1: [[0.5, 0.5], [0.5, 0.5]] } }); // prettier-ignore
  assert.match(tree.element.textContent, /worth −0.0556.*Player 1 to begin.*Jcheck 100 %Qbet 75 %/);
  const marks = tree.element.all((one) => one.getAttribute("role") === "button");
  marks[1].fire("click");
  assert.match(tree.element.textContent, /Player 2 after “check”.*Jcheck 50 %/);
});

test("algorithms are picked, at most eight, and remembered", () => {
  const entry = (name, at) => ({ name, summary: "", group: at < 4 ? "A" : "B", variants: [] });
  const known = ["cfr", "cfr+", "dcfr", "pcfr+", "fp"].map(entry);
  const picks = makePicks(known);
  assert.deepEqual(picks.chosen(), ["cfr", "cfr+", "dcfr", "pcfr+"]);
  const chip = (name) => picks.element.classes("chip").find((one) => one.textContent === name);
  chip("cfr").fire("click");
  chip("fp").fire("click");
  assert.deepEqual(picks.chosen(), ["cfr+", "dcfr", "pcfr+", "fp"]);
  for (let number = 0; number < 6; number += 1) {
    picks.element.tags("input")[0].value = `dcfr:1,0,${number}`;
    chip("Add").fire("click");
  }
  assert.equal(picks.chosen().length, 8);
  assert.equal(JSON.parse(localStorage.getItem("algorithms")).length, 8);
  assert.deepEqual(makePicks(known).chosen(), picks.chosen());
});

test("the nearest point to the pointer is read out", () => {
  const points = [[1, 5], [2, null], [4, 7]]; // prettier-ignore
  assert.deepEqual(nearest(points, 2.2, (x) => x), [1, 5]); // prettier-ignore
  assert.equal(nearest([[1, null]], 0, (x) => x), null); // prettier-ignore
});

test("a run draws its numbers, those that matter first, over any axis", () => {
  const columns = { epoch: [1, 2], seconds: [3, null], lr: [0.1, 0.2], loss: [null, 5], empty: [null, null] };
  assert.deepEqual(drawnColumns(columns), ["loss", "lr"]);
  assert.deepEqual(columnPoints(columns, "epoch", "loss"), [[2, 5]]);
  assert.deepEqual(columnPoints(columns, "examples", "lr"), [[0, 0.1], [1, 0.2]]); // prettier-ignore
});
