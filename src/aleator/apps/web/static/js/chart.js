// Line charts in SVG: linear or logarithmic axes, many series, a readout under the pointer.

import { fill, h, number, s } from "./dom.js";

const MARGIN = { left: 56, right: 14, top: 26, bottom: 34 };
export const COLOURS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)", "var(--series-6)", "var(--series-7)", "var(--series-8)"];

function scale(log, low, high, from, to) {
  const map = log ? Math.log10 : (value) => value;
  const [a, b] = [map(low), map(high)];
  return (value) => from + ((map(value) - a) / (b - a || 1)) * (to - from);
}

function ticks(log, low, high, most) {
  if (log) {
    const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    if (b - a < 2) {
      const near = [];
      for (let power = a - 1; power <= b; power += 1) for (const factor of [1, 2, 5]) near.push(factor * 10 ** power);
      const inside = near.filter((value) => value >= low * 0.999 && value <= high * 1.001);
      if (inside.length > 1) return inside;
    }
    const step = Math.max(1, Math.ceil((b - a + 1) / most));
    const found = [];
    for (let power = a; power <= b; power += step) found.push(10 ** power);
    return found.length > 1 ? found : [low, high];
  }
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw) ?? power;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

function label(value, log) {
  if (!log) return Math.abs(value) >= 10000 ? `${number(value / 1000)}k` : number(value);
  const power = Math.round(Math.log10(value));
  if (Math.abs(Math.log10(value) - power) > 0.01) return value >= 1e6 ? `${number(value / 1e6)}M` : value >= 1e4 ? `${number(value / 1e3)}k` : number(value, 2);
  if (power >= 0 && power < 4) return String(10 ** power);
  if (power < 0 && power > -4) return (10 ** power).toFixed(-power);
  const raised = [...String(power)].map((digit) => ({ "-": "⁻" })[digit] ?? "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  return `10${raised}`;
}

// makeChart({ label, xLabel, yLabel, height }).set({ series: [{ name, colour, points }], xLog, yLog, lines: [[y, text]] })
export function makeChart({ label: said, xLabel, yLabel, height = 280, legend = true }) {
  const svg = s("svg", { class: "chart", role: "img", "aria-label": said });
  const readout = h("div", { class: "readout", hidden: true });
  const names = h("div", { class: "legend" });
  const frame = h("div", { class: "chart-frame" }, svg, readout);
  const element = h("figure", { class: "chart-box" }, frame, legend && names);
  let data = { series: [] };
  let place = null;

  function bounds(axis, log, extra = []) {
    let [low, high] = [Infinity, -Infinity];
    for (const { points } of data.series)
      for (const point of points) {
        const value = point[axis];
        if (value === null || !Number.isFinite(value) || (log && value <= 0)) continue;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
    for (const value of extra) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    if (low === Infinity) return log ? [0.1, 1] : [0, 1];
    if (low === high) return log ? [low / 2, high * 2] : [low - 1, high + 1];
    if (log) return [low, high];
    const room = axis ? 0.06 * (high - low) : 0;
    return [low - room, high + room];
  }

  function draw() {
    const width = Math.max(frame.clientWidth, 240);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const { xLog, yLog, lines = [] } = data;
    const [x0, x1] = bounds(0, xLog);
    const [y0, y1] = bounds(1, yLog, lines.map(([value]) => value).filter((value) => value > 0 || !yLog));
    const x = scale(xLog, x0, x1, MARGIN.left, width - MARGIN.right);
    const y = scale(yLog, y0, y1, height - MARGIN.bottom, MARGIN.top);
    const marks = s("g", { class: "axes" });
    for (const value of ticks(yLog, y0, y1, 5))
      marks.append(
        s("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
        s("text", { x: MARGIN.left - 8, y: y(value) + 4, "text-anchor": "end" }, label(value, yLog)),
      );
    for (const value of ticks(xLog, x0, x1, width < 420 ? 4 : 7))
      marks.append(s("text", { x: x(value), y: height - MARGIN.bottom + 16, "text-anchor": "middle" }, label(value, xLog)));
    marks.append(
      s("text", { class: "axis-name", x: width - MARGIN.right, y: height - 4, "text-anchor": "end" }, xLabel),
      s("text", { class: "axis-name", x: 8, y: 13 }, yLabel),
    );
    for (const [value, text] of lines)
      if (value > 0 || !yLog)
        marks.append(
          s("line", { class: "goal", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
          s("text", { class: "goal", x: width - MARGIN.right, y: y(value) - 5, "text-anchor": "end" }, text),
        );
    const drawn = data.series.map(({ points, colour, dots }) => {
      const kept = points.filter(([a, b]) => b !== null && Number.isFinite(b) && (!yLog || b > 0) && (!xLog || a > 0));
      const path = kept.map(([a, b], index) => `${index ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
      const line = s("path", { d: path, class: "series" });
      line.style.stroke = colour;
      const group = s("g", {}, line);
      if (kept.length && (dots || kept.length === 1))
        for (const [a, b] of kept) {
          const dot = s("circle", { cx: x(a), cy: y(b), r: 3.5 });
          dot.style.fill = colour;
          group.append(dot);
        }
      return group;
    });
    place = { x, y, width, xLog };
    svg.replaceChildren(marks, ...drawn);
    fill(names, data.series.map(({ name, colour, note }) => h("span", {}, h("i", { style: { background: colour } }), name, note && h("em", {}, note))));
  }

  svg.addEventListener("pointermove", (event) => {
    if (!place || !data.series.length) return;
    const box = svg.getBoundingClientRect();
    const where = ((event.clientX - box.left) / box.width) * place.width;
    const rows = [];
    for (const { name, colour, points } of data.series) {
      let best = null;
      for (const point of points) if (point[1] !== null && (!best || Math.abs(place.x(point[0]) - where) < Math.abs(place.x(best[0]) - where))) best = point;
      if (best) rows.push(h("div", {}, h("i", { style: { background: colour } }), `${name}: ${number(best[1])} at ${number(best[0], 4)}`));
    }
    fill(readout, rows);
    readout.hidden = !rows.length;
    readout.style.left = `${Math.min(Math.max(event.clientX - box.left + 14, 0), box.width - 190)}px`;
    readout.style.top = `${event.clientY - box.top + 14}px`;
  });
  svg.addEventListener("pointerleave", () => (readout.hidden = true));
  const observer = new ResizeObserver(draw);
  observer.observe(frame);
  return {
    element,
    set(next) {
      data = { ...data, ...next };
      draw();
    },
    leave: () => observer.disconnect(),
  };
}
