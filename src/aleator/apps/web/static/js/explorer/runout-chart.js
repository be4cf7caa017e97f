// A chart over all cards that may come: what is done after each, what ranges are worth then. A click goes there.

import { RANKS, SUITS } from "../cards.js";
import { choices, fill, h, s } from "../dom.js";
import { chips, mixText, percent } from "../format.js";
import { bounds, makeScale, tickLabel, ticks } from "../scales.js";
import { withUnit } from "../units.js";

const MARGINS = { left: 46, right: 8, top: 12, bottom: 40 };
const WIDE = { width: 760, height: 196, ...MARGINS };
const NARROW = { width: 380, height: 200, ...MARGINS }; // on phones
const GAP = 0.8; // between two ranks, in bars
const ROOM = 0.08; // above and below values
const SUIT_ORDER = Object.keys(SUITS);

const share = { text: (value) => percent(value, 1), tick: (value) => percent(value) };
const worth = { text: (value) => chips(value, 4), tick: (value) => tickLabel(value, false) };

// what can be shown: a key, a name, and for all but actions the value of a row
const MEASURES = {
  actions: { name: "What follows" },
  equity: { name: "Equity OOP", of: (row) => row.equities[0], ...share },
  oop: { name: "EV OOP", of: (row) => row.evs[0], ...worth },
  ip: { name: "EV IP", of: (row) => row.evs[1], ...worth },
};

const SHARES = { actions: true, equity: true }; // neither chips nor big blinds

let chosen = "actions"; // kept from node to node

// the mean over cards that come with different chances; null if nothing is known
export function meanOf(rows, of) {
  const known = rows.filter((row) => of(row) !== null && row.chance > 0);
  const total = known.reduce((sum, row) => sum + row.chance, 0);
  return total > 0 ? known.reduce((sum, row) => sum + row.chance * of(row), 0) / total : null;
}

// where a card lies: ranks from ace to deuce, the four suits of each side by side; 0 is the left, 1 the right end
export function placeOf(one) {
  const bars = RANKS.length * SUIT_ORDER.length + (RANKS.length - 1) * GAP;
  const at = RANKS.indexOf(one[0]) * (SUIT_ORDER.length + GAP) + SUIT_ORDER.indexOf(one[1]);
  return { from: at / bars, width: 1 / bars };
}

export function runoutChart(found, colours, go) {
  const keys = Object.keys(MEASURES).filter((key) => key !== "actions" || found.player >= 0);
  const frame = window.innerWidth < 600 ? NARROW : WIDE;
  const svg = s("svg", { class: "chart runout-chart", viewBox: `0 0 ${frame.width} ${frame.height}`, role: "img" });
  const draw = (key) => {
    const drawn = key === "actions" ? stacks : points;
    svg.setAttribute("aria-label", `${MEASURES[key].name} by the card that comes`);
    fill(svg, cardAxis(frame), drawn(found, { ...MEASURES[key], frame, colours, go }));
  };
  const now = keys.includes(chosen) ? chosen : keys[0];
  const options = keys.map((key) => [key, key in SHARES ? MEASURES[key].name : withUnit(MEASURES[key].name)]);
  const choice = choices("Show over all cards", options, now, (key) => {
    chosen = key;
    draw(key);
  });
  draw(now);
  return h("figure", { class: "runout-figure" }, choice, svg);
}

// where a card's column is, from left to right
function columnOf(frame, one) {
  const { from, width } = placeOf(one);
  const whole = frame.width - frame.left - frame.right;
  return { x: frame.left + from * whole, width: width * whole };
}

const upright = (frame, range) => makeScale(false, range, [frame.height - frame.bottom, frame.top]);

// ranks and suits below the chart
function cardAxis(frame) {
  const rank = (text) => {
    const [first, last] = [SUIT_ORDER[0], SUIT_ORDER.at(-1)].map((suit) => columnOf(frame, text + suit));
    const x = (first.x + last.x + last.width) / 2;
    return s("text", { x, y: frame.height - 8, "text-anchor": "middle" }, text === "T" ? "10" : text);
  };
  const suit = (one) => {
    const { x, width } = columnOf(frame, one);
    const properties = { x: x + width / 2, y: frame.height - frame.bottom + 13, "text-anchor": "middle" };
    return s("text", { ...properties, class: `suit suit-${one[1]}` }, SUITS[one[1]]);
  };
  const all = [...RANKS].map((text) => [rank(text), SUIT_ORDER.map((one) => suit(text + one))]);
  return s("g", { class: "axes" }, all);
}

function lines(frame, range, tick) {
  const y = upright(frame, range);
  return ticks(false, ...range, 4).map((value) => [
    s("line", { x1: frame.left, x2: frame.width - frame.right, y1: y(value), y2: y(value) }),
    s("text", { x: frame.left - 6, y: y(value) + 4, "text-anchor": "end" }, tick(value)),
  ]);
}

// a card's column: a click anywhere in it goes there, the pointer over it reads what is drawn
function column(row, { frame, go, title }, drawn) {
  const height = frame.height - frame.top - frame.bottom;
  const area = { ...columnOf(frame, row.card), y: frame.top, height, class: "area" };
  const properties = { class: "column", dataset: { card: row.card }, onclick: () => go(row.card) };
  return s("g", properties, s("title", {}, `${row.card}: ${title}`), drawn, s("rect", area));
}

function stacks({ cards, actions }, { frame, colours, go }) {
  const y = upright(frame, [0, 1]);
  const bar = (row) => {
    const { x, width } = columnOf(frame, row.card);
    let below = 0;
    const part = (frequency, at) => {
      const [bottom, top] = [y(below), y((below += frequency ?? 0))];
      const size = { x: x + 0.6, width: width - 1.2, y: top, height: bottom - top };
      return s("rect", { ...size, style: { fill: colours[at] } });
    };
    return column(row, { frame, go, title: mixText(actions, row.frequencies) }, row.frequencies.map(part));
  };
  return [s("g", { class: "axes" }, lines(frame, [0, 1], share.tick)), cards.map(bar)];
}

function points({ cards }, { frame, of, text, tick, go }) {
  const known = cards.filter((row) => of(row) !== null);
  const range = bounds(known.map(of), false, ROOM);
  const y = upright(frame, range);
  const dot = (row) => {
    const { x, width } = columnOf(frame, row.card);
    const properties = { cx: x + width / 2, cy: y(of(row)), r: width / 3, class: `suit-${row.card[1]}` };
    return column(row, { frame, go, title: text(of(row)) }, s("circle", properties));
  };
  const axes = s("g", { class: "axes" }, lines(frame, range, tick), meanLine(frame, y, meanOf(cards, of), text));
  return [axes, known.map(dot)];
}

function meanLine(...[frame, y, mean, text]) {
  if (mean === null) return null;
  const right = frame.width - frame.right;
  return [
    s("line", { x1: frame.left, x2: right, y1: y(mean), y2: y(mean), class: "goal" }),
    s("text", { class: "goal", x: right, y: y(mean) - 5, "text-anchor": "end" }, `mean ${text(mean)}`),
  ];
}
