// A range painter: drag over the grid with a weight; the text beside it says the same, both ways.

import { api } from "./api.js";
import { CLASS_SIZES, CLASSES } from "./cards.js";
import { button, debounce, h } from "./dom.js";
import { number, percent } from "./format.js";
import { makeGrid, plain } from "./grid.js";
import { QUICK, TYPICAL } from "./ranges.js";
import { handsOf, makeSuits } from "./suits.js";

const TITLES = { oop: "Out of position, acts first", ip: "In position, acts second" };
const nothing = () => new Array(CLASSES.length).fill(0);

export function makePainter(side, onchange) {
  const painter = new Painter(side, onchange);
  return {
    element: painter.element,
    get: () => painter.text.value,
    set: (range) => painter.use(range),
    leave: () => painter.grid.leave(),
  };
}

const token = (name, weight) => name + (weight < 1 ? `:${Number(weight.toFixed(3))}` : "");
const tokens = (entries) => entries.filter(([, weight]) => weight > 0).map(([name, weight]) => token(name, weight));

// the painted classes as text, those in `mixed` hand by hand; the server merges them into runs
export function rangeText(weights, mixed = {}) {
  return CLASSES.flatMap((name, at) => tokens(mixed[name] ? Object.entries(mixed[name]) : [[name, weights[at]]])).join(
    ",",
  );
}

// a range with more hands, each with a weight
export function addHands(range, hands, weight) {
  const weighed = weight < 1 ? hands.replaceAll(",", `:${weight},`) + `:${weight}` : hands;
  return [range, weighed].filter(Boolean).join(",");
}

export function countHands(weights) {
  return weights.reduce((sum, weight, index) => sum + weight * CLASS_SIZES[index], 0);
}

class Painter {
  constructor(side, onchange) {
    Object.assign(this, { side, onchange, weights: nothing(), mixed: {}, brush: 1, painting: null, turn: 0 });
    this.name = side.toUpperCase();
    this.grid = makeGrid(`Range of ${this.name}`, { onpress: (index, _, phase) => this.press(index, phase) });
    this.suits = makeSuits((hand) => this.pressHand(hand));
    this.count = h("span", { class: "muted" });
    this.problem = h("p", { class: "problem-text" });
    this.text = this.makeText();
    this.write = debounce((mine) => this.writeText(mine), 120);
    this.read = debounce((mine) => this.readText(mine), 200);
    this.element = this.build();
  }

  build() {
    const title = [h("b", {}, this.name), h("small", {}, TITLES[this.side]), this.count];
    return h(
      "div",
      { class: "painter", dataset: { side: this.side } },
      h("div", { class: "painter-head" }, title),
      this.grid.element,
      this.suits.element,
      this.makeBrush(),
      this.makeChips(),
      this.makeTypical(),
      this.text,
      this.problem,
    );
  }

  makeText() {
    const label = `Range of ${this.name} as text`;
    return h("textarea", { rows: 3, spellcheck: false, "aria-label": label, oninput: () => this.read(++this.turn) });
  }

  makeBrush() {
    const shown = h("output", {}, "100 %");
    const oninput = () => {
      this.brush = Number(slider.value) / 100;
      shown.textContent = percent(this.brush);
    };
    const label = `Weight painted for ${this.name}`;
    const slider = h("input", { type: "range", min: 5, max: 100, step: 5, value: 100, "aria-label": label, oninput });
    return h("label", { class: "brush" }, "Weight", slider, shown);
  }

  makeChips() {
    const chip = ([name, hands]) => {
      const joined = () => (name === "All" ? hands : addHands(this.text.value, hands, this.brush));
      return button(name, () => this.use(joined()), { class: "chip" });
    };
    return h(
      "div",
      { class: "chips" },
      QUICK.map(chip),
      button("Clear", () => this.clear(), { class: "chip" }),
    );
  }

  makeTypical() {
    const onchange = () => {
      this.use(TYPICAL[select.selectedIndex - 1][1]);
      select.selectedIndex = 0;
    };
    const options = ["Typical ranges …", ...TYPICAL.map(([name]) => name)].map((name) => h("option", {}, name));
    const select = h("select", { "aria-label": `Typical range for ${this.name}`, onchange }, options);
    return select;
  }

  use(range) {
    this.text.value = range;
    this.read(++this.turn);
  }

  clear() {
    this.weights = nothing();
    this.mixed = {};
    this.draw();
    this.write(++this.turn);
  }

  press(index, phase) {
    const { weights, brush } = this;
    const name = CLASSES[index];
    this.suits.choose(name);
    if (phase !== "drag") this.painting = Math.abs(weights[index] - brush) < 1e-6 ? 0 : brush;
    if (weights[index] === this.painting && !this.mixed[name]) return;
    weights[index] = this.painting;
    delete this.mixed[name];
    this.draw();
    this.write(++this.turn);
  }

  // one hand of the class that was painted last, on or off
  pressHand(hand) {
    const name = this.suits.name;
    const index = CLASSES.indexOf(name);
    const hands = this.mixed[name] ?? Object.fromEntries(handsOf(name).map((one) => [one, this.weights[index]]));
    hands[hand] = hands[hand] > 0 ? 0 : this.brush;
    const shares = Object.values(hands);
    this.weights[index] = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    this.mixed[name] = hands;
    this.draw();
    this.write(++this.turn);
  }

  draw() {
    this.grid.paint((index) => describe(this.weights[index], CLASSES[index]));
    const hands = countHands(this.weights);
    this.count.textContent = `${number(hands, 4)} hands, ${percent(hands / 1326, 1)}`;
    this.suits.draw((hand) => this.mixed[this.suits.name]?.[hand] ?? this.weights[CLASSES.indexOf(this.suits.name)]);
  }

  async writeText(mine) {
    if (mine !== this.turn) return;
    const found = await api.range(rangeText(this.weights, this.mixed));
    if (mine !== this.turn) return;
    this.text.value = found.canonical;
    this.problem.textContent = "";
    this.onchange(found.canonical);
  }

  // also what cannot be read is told: nothing is solved with another range than the one that stands there
  async readText(mine) {
    if (mine !== this.turn) return;
    const found = await api.range(this.text.value).catch((error) => ({ problem: error.message }));
    if (mine !== this.turn) return;
    this.problem.textContent = found.problem ?? "";
    if (!found.problem) {
      this.weights = found.weights;
      this.mixed = found.mixed;
      this.draw();
    }
    this.onchange(this.text.value);
  }
}

function describe(weight, name) {
  return {
    background: weight > 0 ? plain("var(--range)") : "",
    size: `100% ${Math.round(100 * weight)}%`,
    text: weight > 0 && weight < 0.995 ? String(Math.round(100 * weight)) : "",
    dim: weight === 0,
    label: `${name}, weight ${percent(weight)}`,
  };
}
