// Bet sizes that are exact amounts, in chips as spots keep them ("120c") or in big blinds ("2.5bb").

import { isInBlinds, toCents } from "../units.js";
import { finer, timesChips } from "./finer.js";

const BLINDS = /^([\d.]+)bb$/i;
const CHIPS = /^([\d.]+)c$/;

const toChips = (size, bigBlind) =>
  size.replace(BLINDS, (_, count) => `${Number((toCents(Number(count)) * bigBlind).toFixed(6))}c`);

const chipsIn = (size) => Number(CHIPS.exec(size)?.[1] ?? 0);

// exact sizes in the unit that was chosen
export const sizesInUnit = (sizes, bigBlind) =>
  isInBlinds() ? sizes.map((size) => size.replace(CHIPS, (_, chips) => `${toCents(chips / bigBlind)}bb`)) : sizes;

// Gives a spot the sizes that were typed; returns how many times as many chips it has now, so that all are whole.
export function takeSizes(spot, { street, side, kind }, typed) {
  const sizes = typed?.map((size) => toChips(size, spot.min_bet || 1)) ?? null;
  const exact = (typed ?? [])
    .filter((size) => BLINDS.test(size))
    .map((size) => chipsIn(toChips(size, spot.min_bet || 1)));
  const times = Math.max(1, ...exact.map(finer));
  spot[street][side][kind] = sizes;
  timesChips(spot, times);
  return times;
}
