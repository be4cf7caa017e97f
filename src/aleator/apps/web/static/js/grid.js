// The 13 x 13 grid of hand classes: drawn once, repainted often, walked with arrow keys.

import { CLASSES } from "./cards.js";
import { h } from "./dom.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 };

// onpress(index, event, phase): phase is "down", "drag" or "key".
export function makeGrid(label, { onpress = () => {}, onhover = () => {} } = {}) {
  const grid = new Grid(label, onpress, onhover);
  return {
    element: grid.element,
    // describe(index) => { background, size, text, dim, selected, label }
    paint: (describe) => grid.cells.forEach((cell, index) => paintCell(cell, index, describe(index))),
    leave: () => grid.leave(),
  };
}

class Grid {
  constructor(label, onpress, onhover) {
    Object.assign(this, { onpress, onhover, dragging: false });
    this.cells = CLASSES.map(makeCell);
    this.element = h("div", { class: "grid13", role: "group", "aria-label": label }, this.cells);
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("pointermove", (event) => this.move(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.stop = () => (this.dragging = false);
    window.addEventListener("pointerup", this.stop);
    window.addEventListener("pointercancel", this.stop);
  }

  leave() {
    window.removeEventListener("pointerup", this.stop);
    window.removeEventListener("pointercancel", this.stop);
  }

  press(event) {
    const cell = event.target.closest?.(".cell");
    if (!cell || event.button) return;
    this.dragging = true;
    this.focus(indexOf(cell));
    cell.releasePointerCapture?.(event.pointerId);
    this.onpress(indexOf(cell), event, "down");
  }

  move(event) {
    for (const point of this.points(event)) {
      const cell = document.elementFromPoint(point.clientX, point.clientY)?.closest(".cell");
      if (!cell || !this.element.contains(cell)) continue;
      this.onhover(indexOf(cell));
      if (this.dragging) this.onpress(indexOf(cell), event, "drag");
    }
  }

  // where the pointer has been: a quick drag must not skip cells
  points(event) {
    const between = this.dragging ? event.getCoalescedEvents?.() : null;
    return between?.length ? between : [event];
  }

  key(event) {
    const cell = event.target.closest?.(".cell");
    const isPress = event.key === "Enter" || event.key === " ";
    if (!cell || (!isPress && !STEPS[event.key])) return;
    event.preventDefault();
    if (isPress) this.onpress(indexOf(cell), event, "key");
    else this.walk(indexOf(cell) + STEPS[event.key]);
  }

  walk(index) {
    if (index < 0 || index >= this.cells.length) return;
    this.focus(index);
    this.onhover(index);
  }

  focus(index) {
    for (const cell of this.cells) cell.tabIndex = -1;
    this.cells[index].tabIndex = 0;
    this.cells[index].focus({ preventScroll: true });
  }
}

const indexOf = (cell) => Number(cell.dataset.index);

function makeCell(name, index) {
  const properties = { type: "button", class: "cell", tabIndex: index ? -1 : 0, "aria-label": name };
  return h("button", { ...properties, dataset: { index, name } }, h("b", {}, name), h("small", {}));
}

function paintCell(cell, index, { background = "", size = "", text = "", dim = false, selected = false, label }) {
  cell.style.backgroundImage = background;
  cell.style.backgroundSize = size;
  cell.lastChild.textContent = text;
  cell.classList.toggle("dim", dim);
  cell.classList.toggle("selected", selected);
  cell.setAttribute("aria-label", label ?? CLASSES[index]);
}

export const plain = (colour) => `linear-gradient(${colour}, ${colour})`;

// A background that is split among the colours like the shares.
export function split(shares, colours) {
  let from = 0;
  const stops = [];
  shares.forEach((share, index) => {
    if (share <= 0) return;
    const to = from + 100 * share;
    stops.push(`${colours[index]} ${from.toFixed(2)}% ${to.toFixed(2)}%`);
    from = to;
  });
  return stops.length ? `linear-gradient(to right, ${stops.join(", ")})` : "";
}

// A colour between low and high for a share of 0 to 1.
export function heat(share) {
  const t = Math.max(0, Math.min(1, share));
  return `color-mix(in oklab, var(--heat-high) ${(100 * t).toFixed(1)}%, var(--heat-low))`;
}
