// The mean of a place over flops: given that it is reached, as at one table over many deals.

// how much a flop counts: how likely it is, and how likely the place is on it
export const weightOf = (flop, place) => flop.chance * flop[place].reached;

// the mean of what `read` finds at the place on each flop; null if it is reached on none
export function meanOver(flops, place, read) {
  let [total, weight] = [0, 0];
  for (const flop of flops) {
    const [value, own] = [read(flop[place]), weightOf(flop, place)];
    if (value === null || own === 0) continue;
    total += own * value;
    weight += own;
  }
  return weight > 0 ? total / weight : null;
}
