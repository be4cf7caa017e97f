// Spots keep whole chips. Where an amount of big blinds is none, chips are made finer: every amount becomes 10 or 100 times
// as many, and the spot stays the same.

const isWhole = (chips) => Math.abs(chips - Math.round(chips)) < 1e-6;

// how many times as many chips make an amount whole
export function finer(chips) {
  if (isWhole(chips)) return 1;
  return isWhole(10 * chips) ? 10 : 100;
}

const timesPath = (path, times) => path.replaceAll(/\bb(\d+)/g, (_, chips) => `b${chips * times}`);
const timesSize = (size, times) => size.replace(/^([\d.]+)c$/, (_, chips) => `${Number((chips * times).toFixed(6))}c`);
const timesKeys = (entries, times) =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [timesPath(key, times), value]));

function timesSizes(spot, times) {
  const sides = ["flop", "turn", "river"].flatMap((street) => Object.values(spot[street] ?? {}));
  for (const sizes of sides) {
    for (const kind of Object.keys(sizes)) sizes[kind] = sizes[kind]?.map((size) => timesSize(size, times)) ?? null;
  }
}

function timesLocks(spot, times) {
  const locks = timesKeys(spot.lock ?? {}, times);
  if (spot.lock)
    spot.lock = Object.fromEntries(Object.entries(locks).map(([path, acts]) => [path, timesKeys(acts, times)]));
}

// the same spot with finer chips
export function timesChips(spot, times) {
  if (times === 1) return;
  for (const key of ["pot", "stack"]) spot[key] = Math.round(spot[key] * times);
  spot.min_bet = (spot.min_bet || 1) * times;
  if (spot.rake?.cap) spot.rake.cap *= times;
  spot.added = spot.added?.map((path) => timesPath(path, times));
  timesSizes(spot, times);
  timesLocks(spot, times);
}
