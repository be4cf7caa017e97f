// Scales of charts: where a value lies, which values are marked, and what they are called.

import { number } from "./format.js";

// a function from [low, high] to [from, to], linear or logarithmic
export function makeScale(log, [low, high], [from, to]) {
  const map = log ? Math.log10 : (value) => value;
  const [a, b] = [map(low), map(high)];
  return (value) => from + ((map(value) - a) / (b - a || 1)) * (to - from);
}

// about `most` values in [low, high] to be marked
export function ticks(log, low, high, most) {
  return log ? logarithmicTicks(low, high, most) : linearTicks(low, high, most);
}

function logarithmicTicks(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const near = last - first < 2 ? withinDecades(first - 1, last, low, high) : [];
  if (near.length > 1) return near;
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const found = [];
  for (let power = first; power <= last; power += step) found.push(10 ** power);
  return found.length > 1 ? found : [low, high];
}

// 1, 2 and 5 times the powers of ten from one to another, as far as they lie in [low, high]
function withinDecades(...[first, last, low, high]) {
  const powers = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => 10 ** (first + at));
  const all = powers.flatMap((power) => [1, 2, 5].map((factor) => factor * power));
  return all.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

function linearTicks(low, high, most) {
  const wanted = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(wanted || 1));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= wanted) ?? power;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step)
    found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

const SUPERSCRIPTS = { "-": "⁻", ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((raised, digit) => [digit, raised])) };

export function tickLabel(value, log) {
  if (!log) return Math.abs(value) >= 10000 ? `${number(value / 1000)}k` : number(value);
  const power = Math.round(Math.log10(value));
  if (Math.abs(Math.log10(value) - power) > 0.01) return shortNumber(value);
  if (power >= 0 && power < 4) return String(10 ** power);
  if (power < 0 && power > -4) return (10 ** power).toFixed(-power);
  if (power > 0 && power < 9) return shortNumber(10 ** power); // as its neighbours, 20k and 50k
  return powerOfTen(power);
}

const powerOfTen = (power) => `10${[...String(power)].map((digit) => SUPERSCRIPTS[digit]).join("")}`;

function shortNumber(value) {
  const power = Math.floor(Math.log10(value));
  if (power <= -4) return `${number(value / 10 ** power, 2)}·${powerOfTen(power)}`;
  if (value >= 1e6) return `${number(value / 1e6)}M`;
  return value >= 1e4 ? `${number(value / 1e3)}k` : number(value, 2);
}

// [low, high] of what is drawn; a chart of one value has room around it, and values that go up have some above
export function bounds(values, log, room = 0) {
  const drawn = values.filter((value) => isDrawn(value, log));
  if (!drawn.length) return log ? [0.1, 1] : [0, 1];
  const low = drawn.reduce((a, b) => Math.min(a, b));
  const high = drawn.reduce((a, b) => Math.max(a, b));
  if (low === high) return log ? [low / 2, high * 2] : [low - 1, high + 1];
  return log ? [low, high] : [low - room * (high - low), high + room * (high - low)];
}

export const isDrawn = (value, log) => value !== null && Number.isFinite(value) && (!log || value > 0);
