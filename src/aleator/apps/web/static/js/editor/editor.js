// The spot editor: board, ranges, bet menu, amounts; an estimate of the solve while you type.

import { Refused } from "../api.js";
import { attempt, button, fill, h, panel, titleRow } from "../dom.js";
import { openSpot } from "../hands/spots.js";
import { makePainter } from "../painter.js";
import { unitChoice } from "../units.js";
import { makeAmounts, spotRules } from "./amounts.js";
import { makeBoard } from "./board.js";
import { problemOf } from "./chips-field.js";
import { makeEstimate } from "./estimate.js";
import { makePast } from "./past.js";
import { makeSizes } from "./sizes.js";
import { makeSpotFiles } from "./spot-files.js";

const clone = (value) => JSON.parse(JSON.stringify(value));

// `tools` stand beside the buttons for files
export function makeEditor({ presets, algorithms, cores, tools = [] }, start, onsolve, title) {
  const editor = new Editor(presets, algorithms, onsolve, cores);
  editor.files.prepend(...tools);
  editor.use(start, title ?? presets.find((preset) => preset.spot.board === start.board)?.name ?? "Spot");
  return { element: editor.element, leave: () => editor.leave() };
}

class Editor {
  constructor(presets, algorithms, onsolve, cores = 1) {
    Object.assign(this, { presets, onsolve, run: { threads: cores, bits: 32 }, past: makePast() });
    const change = (edit) => this.change(edit);
    this.solve = button("Solve", () => this.submit(), { class: "primary big" });
    this.time = h("span", { class: "solve-time muted" });
    this.why = h("p", { class: "solve-why problem-text", hidden: true });
    this.back = button(["Undo", h("kbd", {}, "Ctrl Z")], () => this.undo(), { class: "quiet undo", disabled: true });
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
    this.name = h("input", { type: "text", value: "Spot", maxLength: 100, "aria-label": "Name" });
    this.oop = makePainter("oop", (text) => this.change((spot) => (spot.oop = text)));
    this.ip = makePainter("ip", (text) => this.change((spot) => (spot.ip = text)));
    this.board = makeBoard((board, typed) => this.change((spot) => (spot.board = board), typed));
    this.sizes = makeSizes(change, () => this.amounts.build(this.spot));
    this.amounts = makeAmounts(this.run, spotRules(algorithms), change, () => this.fillSizes());
    this.estimate = makeEstimate(
      () => this.request(),
      (known) => this.tell(known),
    );
    const panels = [this.buildBoard(), this.buildRanges(), this.buildSizes(), this.buildCost()];
    const parts = [this.buildBar(), this.buildPresets(), h("div", { class: "editor-panels" }, panels)];
    this.element = h("section", { class: "editor" }, parts);
  }

  leave() {
    this.estimate.forget();
    window.removeEventListener("keydown", this.keys);
    this.oop.leave();
    this.ip.leave();
  }

  // what is always in sight: what this is, its name, and the button
  buildBar() {
    const title = h("h1", {}, "Solve a spot");
    return h("div", { class: "solve-bar" }, title, this.name, this.back, this.time, this.solve, this.why);
  }

  // beside the button: how long it will take, or why it cannot be pressed
  tell({ problem, time }) {
    fill(this.time, time);
    if (problem === undefined) return;
    this.solve.disabled = problem !== "";
    fill(this.why, problem);
    this.why.hidden = problem === "";
  }

  buildPresets() {
    const chip = ({ name, summary, spot }) =>
      button(name, () => this.use(spot, name), { class: "chip", title: summary });
    const current = () => ({ spot: this.spot, name: this.name.value });
    this.files = makeSpotFiles(current, (spot, name) => this.use(spot, name));
    const label = h("span", { class: "label" }, "Begin with");
    return h("div", { class: "presets" }, label, this.presets.map(chip), this.files);
  }

  buildBoard() {
    const random = button("Random", () => this.board.draw(), { class: "quiet" });
    const unit = unitChoice(() => this.fillAmounts());
    return panel(
      "of-board",
      titleRow(h("h2", {}, "Board"), random),
      this.board.elements,
      titleRow(h("h2", {}, "Pot and stacks"), unit),
      this.amounts.element,
    );
  }

  buildRanges() {
    const swap = button("Swap", () => this.swap(), { class: "quiet" });
    const help = h("span", { class: "muted small" }, "Click or drag to paint; arrow keys and space do it, too.");
    const both = h("div", { class: "ranges" }, this.oop.element, this.ip.element);
    return panel("of-ranges", titleRow(h("h2", {}, "Ranges"), swap, help), both);
  }

  buildSizes() {
    return panel("of-sizes", h("h2", {}, "Bet sizes"), this.sizes.element);
  }

  buildCost() {
    const many = button("On many flops instead", () => openSpot("reports", this.spot, this.name.value));
    return panel("of-cost", h("h2", {}, "What it will take"), this.estimate.element, h("p", {}, many));
  }

  // what would be solved
  request() {
    const problem = problemOf(this.spot);
    if (problem) throw new Refused(problem);
    return { spot: this.spot, ...this.run };
  }

  async submit() {
    this.solve.disabled = true;
    await attempt(() => this.onsolve({ name: this.name.value.trim() || "Spot", spot: this.spot, ...this.run }));
    this.solve.disabled = false;
  }

  change(edit, typed = false) {
    const before = clone(this.spot);
    edit(this.spot);
    this.past.keep(before, this.spot);
    this.back.disabled = this.past.isEmpty();
    this.sizes.show(this.board.show(this.spot.board, typed));
    this.estimate.refresh();
  }

  undo() {
    const before = this.past.take();
    if (!before) return;
    this.spot = before;
    this.use(before, this.name.value);
  }

  onkey(event) {
    const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName ?? "");
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || isField) return;
    event.preventDefault();
    this.undo();
  }

  fillSizes() {
    this.sizes.build(this.spot);
    this.sizes.show(this.board.show(this.spot.board));
  }

  fillAmounts() {
    this.amounts.build(this.spot);
    this.fillSizes();
  }

  swap() {
    const [oop, ip] = [this.oop.get(), this.ip.get()];
    this.oop.set(ip);
    this.ip.set(oop);
  }

  use(spot, name) {
    if (this.spot) this.past.keep(this.spot, spot);
    this.spot = clone(spot);
    this.name.value = name;
    this.oop.set(this.spot.oop);
    this.ip.set(this.spot.ip);
    this.sizes.build(this.spot);
    this.amounts.build(this.spot);
    this.change(() => {});
  }
}
