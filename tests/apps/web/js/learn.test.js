import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

installBrowser();
const { nearest } = await import("#js/chart.js");
const { makePicks } = await import("#js/learn/picks.js");
const { makeSettings, nameWith } = await import("#js/learn/settings.js");
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
  const entry = (name, at) => ({ name, summary: "", group: at < 4 ? "A" : "B", variants: [], settings: [] });
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

const MCCFR = {
  name: "mccfr",
  settings: [
    { name: "scheme", form: "word", kind: "str", default: "external", choices: ["external", "robust"], help: "" },
    { name: "robust", form: "attached", kind: "int", default: 3, least: 1, most: 9, choices: [], help: "" },
    { name: "batch", form: "named", kind: "int", default: 1, least: 1, most: 10, choices: [], help: "", unit: "walks" },
    { name: "greedy", form: "word", kind: "bool", default: false, choices: ["greedy"], help: "" },
    { name: "updates", form: "slash", kind: "bool", default: "alternating", choices: ["simultaneous", "alternating"] },
  ],
};
const RULE = { name: "rule", form: "placed", kind: "str", default: "cfr", choices: [], help: "" };
const GAMMA = { name: "gamma", form: "placed", kind: "float", default: 2, infinite: true, choices: [], help: "" };

test("settings make a name, of which the defaults are no part", () => {
  assert.equal(nameWith(MCCFR, {}), "mccfr");
  assert.equal(nameWith(MCCFR, { scheme: "external", batch: "1", updates: "alternating" }), "mccfr");
  const all = { scheme: "", robust: "2", batch: "5", greedy: "greedy", updates: "simultaneous" };
  assert.equal(nameWith(MCCFR, all), "mccfr:robust2,batch=5,greedy/simultaneous");
  assert.equal(nameWith({ name: "rbp", settings: [RULE, GAMMA] }, { rule: "cfr+", gamma: "3" }), "rbp:cfr+,gamma=3");
});

test("the form of settings has their limits and units, and adds the name", () => {
  const added = [];
  const form = makeSettings([{ name: "cfr", settings: MCCFR.settings.slice(-1) }, MCCFR], (name) => added.push(name));
  const [chosen, scheme, updates] = form.tags("select");
  assert.deepEqual(chosen.tags("option").map((one) => one.textContent), ["mccfr"]); // prettier-ignore
  assert.equal(scheme.tags("option").length, 2);
  const [, batch, greedy] = form.tags("input");
  const limits = ["min", "max", "step", "placeholder"].map((name) => batch.getAttribute(name));
  assert.deepEqual([batch.type, ...limits], ["number", "1", "10", "1", "1"]);
  assert.match(form.textContent, /batchwalks/);
  batch.value = "7";
  batch.fire("input");
  greedy.checked = true;
  greedy.fire("change");
  updates.value = "simultaneous";
  updates.fire("change");
  form.tags("button")[0].fire("click");
  assert.deepEqual(added, ["mccfr:batch=7,greedy/simultaneous"]);
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
