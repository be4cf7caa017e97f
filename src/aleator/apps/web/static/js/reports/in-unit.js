// Reports and comparisons with their amounts in the unit that was chosen.

import { named, valueIn } from "../explorer/evs.js";

const placeIn = (place, bigBlind) =>
  place && { ...place, ev: place.ev.map(valueIn(bigBlind)), actions: named(place.actions, bigBlind) };

const placesIn = (holder, bigBlind) => ({
  ...holder,
  root: placeIn(holder.root, bigBlind),
  node: placeIn(holder.node, bigBlind),
});

export function reportInUnit(report) {
  const bigBlind = report.spot.min_bet || 1;
  const flops = report.flops.map((flop) => placesIn(flop, bigBlind));
  const said = saidIn(report.said, bigBlind);
  return { ...report, said, mean: placesIn(report.mean, bigBlind), flops };
}

export function comparedInUnit(found, bigBlind) {
  const value = valueIn(bigBlind);
  return {
    ...found,
    pots: found.pots.map(value),
    evs: found.evs.map((row) => row.map(value)),
    class_evs: found.class_evs.map((sides) => sides.map((row) => row.map(value))),
    actions: found.actions.map((list) => named(list, bigBlind)),
    said: saidIn(found.said, bigBlind),
    lines: found.lines.map((line) => ({ ...line, said: saidIn(line.said, bigBlind) })),
  };
}

// what was done on the way to a node; cards have no amounts
export const saidIn = (said, bigBlind) => said.map((step) => (step.player < 0 ? step : named([step], bigBlind)[0]));
