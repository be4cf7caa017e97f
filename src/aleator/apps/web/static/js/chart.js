// Line charts in SVG: linear or logarithmic axes, many series, a readout under the pointer.

import { fill, h, s } from "./dom.js";
import { number } from "./format.js";
import { bounds, isDrawn, makeScale, tickLabel, ticks } from "./scales.js";

const MARGIN = { left: 56, right: 14, top: 26, bottom: 34 };
const ROOM = 0.06; // above and below the curves
export const COLOURS = [1, 2, 3, 4, 5, 6, 7, 8].map((place) => `var(--series-${place})`);

// makeChart({ label, xLabel, yLabel, height }).set({ series: [{ name, colour, points }], xLog, yLog, lines: [[y, text]] })
export function makeChart(settings) {
  const chart = new Chart(settings);
  return {
    element: chart.element,
    set: (data) => chart.set(data),
    leave: () => chart.observer.disconnect(),
  };
}

class Chart {
  constructor({ label, xLabel, yLabel, height = 280, legend = true }) {
    Object.assign(this, { xLabel, yLabel, height, data: { series: [] }, frame: null });
    this.svg = s("svg", { class: "chart", role: "img", "aria-label": label });
    this.readout = h("div", { class: "readout", hidden: true });
    this.names = h("div", { class: "legend" });
    this.box = h("div", { class: "chart-frame" }, this.svg, this.readout);
    this.element = h("figure", { class: "chart-box" }, this.box, legend && this.names);
    this.svg.addEventListener("pointermove", (event) => this.read(event));
    this.svg.addEventListener("pointerleave", () => (this.readout.hidden = true));
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.box);
  }

  set(data) {
    this.data = { ...this.data, ...data };
    this.draw();
  }

  draw() {
    this.frame = this.measure();
    this.svg.setAttribute("viewBox", `0 0 ${this.frame.width} ${this.height}`);
    this.svg.setAttribute("height", this.height);
    const axes = s("g", { class: "axes" }, this.drawTicks(), this.drawNames(), this.drawGoals());
    this.svg.replaceChildren(axes, ...this.data.series.map((series) => this.drawSeries(series)));
    fill(
      this.names,
      this.data.series.map(({ name, colour, note }) =>
        h("span", {}, h("i", { style: { background: colour } }), name, note && h("em", {}, note)),
      ),
    );
  }

  // the size of the chart and its scales
  measure() {
    const { series, xLog, yLog, lines = [] } = this.data;
    const width = Math.max(this.box.clientWidth, 240);
    const points = series.flatMap((one) => one.points);
    const xs = bounds(
      points.map(([x]) => x),
      xLog,
    );
    const ys = bounds([...points.map(([, y]) => y), ...lines.map(([y]) => y)], yLog, ROOM);
    const x = makeScale(xLog, xs, [MARGIN.left, width - MARGIN.right]);
    const y = makeScale(yLog, ys, [this.height - MARGIN.bottom, MARGIN.top]);
    return { width, xs, ys, x, y, isEmpty: points.length === 0 };
  }

  drawTicks() {
    const { width, xs, ys, x, y, isEmpty } = this.frame;
    if (isEmpty) return s("text", { x: width / 2, y: this.height / 2, "text-anchor": "middle" }, "Nothing to draw yet");
    const { xLog, yLog } = this.data;
    const right = width - MARGIN.right;
    const rows = ticks(yLog, ...ys, 5).map((value) => [
      s("line", { x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
      s("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, tickLabel(value, yLog)),
    ]);
    const below = this.height - MARGIN.bottom + 16;
    const columns = ticks(xLog, ...xs, width < 420 ? 4 : 7).map((value) =>
      s("text", { x: x(value), y: below, "text-anchor": "middle" }, tickLabel(value, xLog)),
    );
    return [rows, columns];
  }

  drawNames() {
    const right = this.frame.width - MARGIN.right;
    return [
      s("text", { class: "axis-name", x: right, y: this.height - 4, "text-anchor": "end" }, this.xLabel),
      s("text", { class: "axis-name", x: 8, y: 13 }, this.yLabel),
    ];
  }

  // lines across the chart, each with a text
  drawGoals() {
    const { width, y, isEmpty } = this.frame;
    if (isEmpty) return [];
    const right = width - MARGIN.right;
    const shown = (this.data.lines ?? []).filter(([value]) => isDrawn(value, this.data.yLog));
    return shown.map(([value, text]) => [
      s("line", { class: "goal", x1: MARGIN.left, x2: right, y1: y(value), y2: y(value) }),
      s("text", { class: "goal", x: right, y: y(value) - 5, "text-anchor": "end" }, text),
    ]);
  }

  drawSeries({ points, colour, dots }) {
    const { x, y } = this.frame;
    const { xLog, yLog } = this.data;
    const kept = points.filter(([a, b]) => isDrawn(a, xLog) && isDrawn(b, yLog));
    const path = kept.map(([a, b], at) => `${at ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    const marked = dots || kept.length === 1 ? kept : [];
    return s(
      "g",
      {},
      s("path", { d: path, class: "series", style: { stroke: colour } }),
      marked.map(([a, b]) => s("circle", { cx: x(a), cy: y(b), r: 3.5, style: { fill: colour } })),
    );
  }

  // says what is nearest to the pointer
  read(event) {
    if (!this.frame || !this.data.series.length) return;
    const box = this.svg.getBoundingClientRect();
    const where = ((event.clientX - box.left) / box.width) * this.frame.width;
    const rows = this.data.series.flatMap(({ name, colour, points }) => {
      const best = nearest(points, where, this.frame.x);
      const text = best && `${name}: ${number(best[1])} at ${number(best[0], 4)}`;
      return best ? [h("div", {}, h("i", { style: { background: colour } }), text)] : [];
    });
    fill(this.readout, rows);
    this.readout.hidden = !rows.length;
    this.readout.style.left = `${Math.min(Math.max(event.clientX - box.left + 14, 0), box.width - 190)}px`;
    this.readout.style.top = `${event.clientY - box.top + 14}px`;
  }
}

// the point whose place is nearest, null if there is none
export function nearest(points, where, x) {
  const known = points.filter(([, y]) => y !== null);
  const distance = ([value]) => Math.abs(x(value) - where);
  return known.reduce((best, point) => (best && distance(best) <= distance(point) ? best : point), null);
}
