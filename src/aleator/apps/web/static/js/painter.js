// A range painter: drag over the grid with a weight; the text beside it says the same, both ways.

import { api } from "./api.js";
import { CLASS_SIZES, CLASSES } from "./cards.js";
import { debounce, fill, h, number, percent } from "./dom.js";
import { makeGrid } from "./grid.js";
import { QUICK, TYPICAL } from "./ranges.js";

const TITLES = { oop: "Out of position, acts first", ip: "In position, acts second" };

export function makePainter(side, onchange) {
  let weights = new Array(169).fill(0);
  let brush = 1;
  let painting = null;
  let turn = 0;
  const grid = makeGrid(`Range of ${side.toUpperCase()}`, { onpress: press });
  const text = h("textarea", { rows: 3, spellcheck: false, "aria-label": `Range of ${side.toUpperCase()} as text`, oninput: () => read(++turn) });
  const count = h("span", { class: "muted" });
  const problem = h("p", { class: "problem-text" });
  const shown = h("output", {}, "100 %");
  const slider = h("input", { type: "range", min: 5, max: 100, step: 5, value: 100, "aria-label": `Weight painted for ${side.toUpperCase()}`, oninput: () => {
    brush = Number(slider.value) / 100;
    shown.textContent = percent(brush);
  } });

  function press(index, event, phase) {
    if (phase !== "drag") painting = Math.abs(weights[index] - brush) < 1e-6 ? 0 : brush;
    if (weights[index] === painting) return;
    weights[index] = painting;
    draw();
    write(++turn);
  }

  function draw() {
    grid.paint((index) => {
      const weight = weights[index];
      return {
        background: weight > 0 ? "linear-gradient(var(--range), var(--range))" : "",
        size: `100% ${Math.round(100 * weight)}%`,
        text: weight > 0 && weight < 0.995 ? String(Math.round(100 * weight)) : "",
        dim: weight === 0,
        label: `${CLASSES[index]}, weight ${percent(weight)}`,
      };
    });
    const hands = weights.reduce((sum, weight, index) => sum + weight * CLASS_SIZES[index], 0);
    count.textContent = `${number(hands, 4)} hands, ${percent(hands / 1326, 1)}`;
  }

  // the painted classes as text; the server merges them into runs
  const write = debounce(async (mine) => {
    if (mine !== turn) return;
    const tokens = weights.map((weight, index) => weight > 0 && CLASSES[index] + (weight < 1 ? `:${Number(weight.toFixed(3))}` : "")).filter(Boolean);
    const found = await api.range(tokens.join(","));
    if (mine !== turn) return;
    text.value = found.canonical;
    problem.textContent = "";
    onchange(found.canonical);
  }, 120);

  const read = debounce(async (mine) => {
    if (mine !== turn) return;
    try {
      const found = await api.range(text.value);
      if (mine !== turn) return;
      weights = found.weights;
      problem.textContent = "";
      draw();
      onchange(text.value);
    } catch (error) {
      if (mine !== turn) return;
      problem.textContent = error.message;
      onchange(text.value); // nothing is solved with another range than the one that stands there
    }
  }, 200);

  const quick = h("div", { class: "chips" }, QUICK.map(([name, add]) => h("button", { type: "button", class: "chip", onclick: () => {
    const joined = name === "All" ? add : [text.value, brush < 1 ? add.split(",").map((token) => `${token}:${brush}`).join(",") : add].filter(Boolean).join(",");
    text.value = joined;
    read(++turn);
  } }, name)), h("button", { type: "button", class: "chip", onclick: () => {
    weights = new Array(169).fill(0);
    draw();
    write(++turn);
  } }, "Clear"));

  const typical = h("select", { "aria-label": `Typical range for ${side.toUpperCase()}`, onchange: () => {
    text.value = TYPICAL[typical.selectedIndex - 1][1];
    typical.selectedIndex = 0;
    read(++turn);
  } }, h("option", {}, "Typical ranges …"), TYPICAL.map(([name]) => h("option", {}, name)));

  const element = h(
    "div",
    { class: "painter", dataset: { side } },
    h("div", { class: "painter-head" }, h("b", {}, side.toUpperCase()), h("small", {}, TITLES[side]), count),
    grid.element,
    h("label", { class: "brush" }, "Weight", slider, shown),
    quick,
    typical,
    text,
    problem,
  );
  return {
    element,
    get: () => text.value,
    set(range) {
      text.value = range;
      read(++turn);
    },
    leave: grid.leave,
  };
}
