// The 13 x 13 grid of hand classes: drawn once, repainted often, walked with arrow keys.

import { h } from "./dom.js";
import { CLASSES } from "./cards.js";

// onpress(index, event, phase): phase is "down", "drag" or "key".
export function makeGrid(label, { onpress, onhover } = {}) {
  const cells = CLASSES.map((name, index) =>
    h("button", { type: "button", class: "cell", tabIndex: index ? -1 : 0, dataset: { index, name }, "aria-label": name }, h("b", {}, name), h("small", {})),
  );
  const grid = h("div", { class: "grid13", role: "group", "aria-label": label }, cells);
  let dragging = false;
  const at = (event) => event.target.closest?.(".cell");
  grid.addEventListener("pointerdown", (event) => {
    const cell = at(event);
    if (!cell || event.button) return;
    dragging = true;
    focus(Number(cell.dataset.index));
    cell.releasePointerCapture?.(event.pointerId);
    onpress?.(Number(cell.dataset.index), event, "down");
  });
  grid.addEventListener("pointermove", (event) => {
    const points = dragging ? (event.getCoalescedEvents?.() ?? []) : []; // a quick drag must not skip cells
    for (const { clientX, clientY } of points.length ? points : [event]) {
      const cell = document.elementFromPoint(clientX, clientY)?.closest?.(".cell");
      if (!cell || !grid.contains(cell)) continue;
      onhover?.(Number(cell.dataset.index));
      if (dragging) onpress?.(Number(cell.dataset.index), event, "drag");
    }
  });
  const stop = () => (dragging = false);
  window.addEventListener("pointerup", stop);
  window.addEventListener("pointercancel", stop);
  function focus(index) {
    for (const cell of cells) cell.tabIndex = -1;
    cells[index].tabIndex = 0;
    cells[index].focus({ preventScroll: true });
  }
  grid.addEventListener("keydown", (event) => {
    const cell = at(event);
    if (!cell) return;
    const index = Number(cell.dataset.index);
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    if (step) {
      event.preventDefault();
      const next = index + step;
      if (next >= 0 && next < 169) {
        focus(next);
        onhover?.(next);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onpress?.(index, event, "key");
    }
  });
  return {
    element: grid,
    // paint(index) => { background, size, text, dim, selected, label }
    paint(describe) {
      cells.forEach((cell, index) => {
        const { background = "", size = "", text = "", dim = false, selected = false, label: said } = describe(index);
        cell.style.backgroundImage = background;
        cell.style.backgroundSize = size;
        cell.lastChild.textContent = text;
        cell.classList.toggle("dim", dim);
        cell.classList.toggle("selected", selected);
        cell.setAttribute("aria-label", said ?? CLASSES[index]);
      });
    },
    leave() {
      window.removeEventListener("pointerup", stop);
      window.removeEventListener("pointercancel", stop);
    },
  };
}

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
