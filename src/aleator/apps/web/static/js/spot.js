// A hold'em spot in words: what is in the pot, who may hold what, which bets there are.

import { capitalised } from "./format.js";
import { amount } from "./units.js";

export const STREETS = ["flop", "turn", "river"];
export const SIDES = ["OOP", "IP"];
const KINDS = { bet: "bets", raise: "raises", donk: "donks" };

function bets(sizes) {
  const kinds = Object.keys(KINDS).filter((kind) => sizes?.[kind]?.length);
  return kinds.map((kind) => `${KINDS[kind]} ${sizes[kind].join(", ")}`).join(", ") || "no bets";
}

// Pairs of a title and a text: pot, both ranges, and the sizes of each street from the board's on.
export function describeSpot(spot) {
  const dealt = spot.board.replaceAll(/\s/g, "").length / 2;
  const sizes = STREETS.slice(Math.max(0, dealt - 3)).map((street) => {
    const [oop, ip] = ["oop", "ip"].map((side) => bets(spot[street]?.[side]));
    return [capitalised(street), oop === ip ? `both: ${oop}` : `OOP: ${oop}; IP: ${ip}`];
  });
  const [pot, behind] = [spot.pot, spot.stack].map((chips) => amount(chips, spot.min_bet ?? 1));
  return [["Pot", `${pot}, ${behind} behind`], ["OOP", spot.oop], ["IP", spot.ip], ...sizes];
}
