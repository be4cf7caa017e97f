// Amounts and settings of a spot: pot, stacks, when to stop, how to solve.

import { choices, field, fill, h } from "../dom.js";
import { chipsField, sync } from "./chips-field.js";

const BITS = [
  ["32", "32 bits"],
  ["16", "16 bits, half the memory"],
];
const MAIN = [
  { label: "Pot", key: "pot", isAmount: true },
  { label: "Stack behind", key: "stack", isAmount: true },
  { label: "Big blind, chips", key: "min_bet" },
  { label: "Stop at, % pot", part: "solve", key: "target", whole: false, scale: 100 },
];
const ITERATIONS = { label: "Iterations at most", part: "solve", key: "max_iterations" };
const MORE = [
  { label: "Raises a street at most", key: "max_raises", hint: "empty: no cap" },
  { label: "Add all-in up to, pots", key: "all_in_threshold", whole: false },
  { label: "Force all-in below, pots", key: "force_all_in_threshold", whole: false },
  { label: "Merge close sizes", key: "merge_threshold", whole: false },
  { label: "Rake, %", part: "rake", key: "rate", whole: false, scale: 100 },
  { label: "Rake cap", part: "rake", key: "cap", isAmount: true, hint: "empty: none" },
];

// names and texts of the algorithms that solve spots, with their variants
export const spotRules = (algorithms) =>
  algorithms
    .filter(({ holdem }) => holdem)
    .flatMap((one) => [one, ...one.variants])
    .map(({ name, summary }) => [name, `${name}: ${summary}`]);

const toText = (value, scale) => (value === null ? "" : String(Number((value * scale).toPrecision(6))));

function ruleField(spot, rules, change) {
  const own = spot.solve.rule;
  const known = rules.some(([value]) => value === own) ? rules : [...rules, [own, own]];
  const options = known.map(([value, text]) => h("option", { value, selected: value === own }, text));
  const onchange = () => change((edited) => (edited.solve.rule = select.value));
  const select = h("select", { onchange }, options);
  return field("Algorithm", select);
}

// change(edit) is called with a function that edits the spot, or the run: threads and bits; onfiner() when chips have
// become finer, so that an amount in big blinds is a whole number of them
export function makeAmounts(run, rules, change, onfiner = () => {}) {
  const element = h("div", { class: "fields" });
  let shown = []; // the fields of amounts, each with what it says of a spot

  function chipsAmount(spot, given) {
    const onfine = (edited, input) => sync(shown, edited, input);
    const { input, say } = chipsField(spot, given, { change, onfine, onfiner });
    shown.push({ input, say });
    return field(given.label, input, given.hint);
  }

  function amount(spot, given) {
    if (given.isAmount) return chipsAmount(spot, given);
    const { label, part, key, whole = true, scale = 1, hint } = given;
    const holder = (of) => (part ? of[part] : of);
    const say = (of) => toText(holder(of)[key] ?? null, scale);
    const edit = (edited) => {
      holder(edited)[key] = input.value === "" ? null : Number(input.value) / scale;
      if (key === "min_bet") sync(shown, edited, input);
    };
    const input = h("input", {
      type: "number",
      min: 0,
      step: whole ? 1 : "any",
      inputMode: "decimal",
      value: say(spot),
      "aria-label": label,
      oninput: () => change(edit),
    });
    if (key === "min_bet") shown.push({ input, say });
    return field(label, input, hint);
  }

  function threads() {
    const oninput = (event) => change(() => (run.threads = Number(event.target.value) || 1));
    return field("Threads", h("input", { type: "number", min: 1, max: 64, value: run.threads, oninput }));
  }

  function precision() {
    const choose = (value) => change(() => (run.bits = Number(value)));
    const title = h("span", { class: "label" }, "Precision");
    return h("div", { class: "field" }, title, choices("Precision", BITS, String(run.bits), choose));
  }

  function build(spot) {
    shown = [];
    const fields = (list) => list.map((one) => amount(spot, one));
    const more = [amount(spot, ITERATIONS), ruleField(spot, rules, change), fields(MORE), threads(), precision()];
    const details = [h("summary", {}, "More settings"), h("div", { class: "fields" }, more)];
    fill(element, fields(MAIN), h("details", { class: "more" }, details));
  }

  return { element, build };
}
