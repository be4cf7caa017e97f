import assert from "node:assert/strict";
import { test } from "node:test";

import { installBrowser } from "./fake-dom.js";

const { toasts } = installBrowser();
const { attempt, button, choices, debounce, fill, h, isPlainKey, s, table } = await import("#js/dom.js");

test("elements get properties, attributes, listeners and children", () => {
  let clicks = 0;
  const properties = { class: "a b", disabled: false, title: "t", "aria-label": "x", dataset: { name: "n" } };
  const made = h("p", { ...properties, onclick: () => (clicks += 1), style: { color: "red" } }, "one", [
    null,
    [2, h("i")],
  ]);
  made.fire("click");
  assert.equal(clicks, 1);
  assert.equal(made.getAttribute("class"), "a b");
  assert.equal(made.title, "t");
  assert.equal(made.getAttribute("aria-label"), "x");
  assert.equal(made.dataset.name, "n");
  assert.equal(made.style.color, "red");
  assert.equal(made.disabled, undefined, "what is false is left out");
  assert.equal(made.textContent, "one2");
});

test("attributes of pictures are written, not set", () => {
  assert.equal(s("svg", { width: 3, title: "x" }).getAttribute("title"), "x");
});

test("filling replaces what was there", () => {
  const box = h("div", {}, "old");
  assert.equal(fill(box, "new").textContent, "new");
});

test("tables have a head and rows", () => {
  const made = table({ class: "x" }, [h("th", {}, "a")], [h("tr"), h("tr")]);
  assert.equal(made.tags("tr").length, 3);
});

test("of a row of choices one is taken, and others can be", () => {
  const taken = [];
  const options = [
    ["a", "A"],
    ["b", "B"],
  ];
  const inputs = choices("Which", options, "b", (key) => taken.push(key)).tags("input");
  assert.deepEqual(
    inputs.map((input) => input.checked),
    [undefined, true],
  );
  assert.equal(new Set(inputs.map((input) => input.getAttribute("name"))).size, 1);
  inputs[0].fire("change");
  assert.deepEqual(taken, ["a"]);
});

test("what is refused is shown", async () => {
  assert.equal(await attempt(async () => {}), true);
  const before = toasts.childNodes.length;
  const refused = await attempt(async () => {
    throw new Error("no");
  });
  assert.equal(refused, false);
  assert.equal(toasts.childNodes.length, before + 1);
  assert.equal(toasts.lastChild.textContent, "no");
});

test("only the last of quick calls is made", async () => {
  const calls = [];
  const late = debounce((value) => calls.push(value), 10);
  late(1);
  late(2);
  assert.deepEqual(calls, []);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(calls, [2]);
});

test("keys in fields and with modifiers are not for the page", () => {
  const event = (inside, extra = {}) => ({ target: { closest: () => inside }, ...extra });
  assert.ok(isPlainKey(event(null)));
  assert.ok(!isPlainKey(event(button("x"))));
  assert.ok(!isPlainKey(event(null, { ctrlKey: true })));
});

test("a bar follows what the server says until the answer is there", async () => {
  const { waitBar, watched } = await import("#js/waiting.js");
  const bar = waitBar("Solved");
  const says = [{ done: null }, { done: 0.5 }];
  let asked = 0;
  const ask = async () => {
    asked += 1;
    if (asked === 3) throw new Error("no answer");
    return says[Math.min(asked, 2) - 1];
  };
  const answer = await watched(bar, ask, () => new Promise((done) => setTimeout(() => done("there"), 1500)));
  assert.equal(answer, "there");
  assert.equal(bar.value, 0.5);
  const before = asked;
  await new Promise((done) => setTimeout(done, 600));
  assert.equal(asked, before, "nobody asks any more");
});
