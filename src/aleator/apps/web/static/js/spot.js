// A hold'em spot in words: what is in the pot, who may hold what, which bets there are.

const STREETS = ["flop", "turn", "river"];

const bets = (sizes) =>
  [["bets", sizes?.bet], ["raises", sizes?.raise], ["donks", sizes?.donk]]
    .filter(([, list]) => list?.length)
    .map(([kind, list]) => `${kind} ${list.join(", ")}`)
    .join(", ") || "no bets";

// Pairs of a title and a text: pot, both ranges, and the sizes of each street from the board's on.
export function describeSpot(spot) {
  const dealt = spot.board.replaceAll(/\s/g, "").length / 2;
  const sizes = STREETS.slice(Math.max(0, dealt - 3)).map((street) => {
    const [oop, ip] = ["oop", "ip"].map((side) => bets(spot[street]?.[side]));
    return [street[0].toUpperCase() + street.slice(1), oop === ip ? `both: ${oop}` : `OOP: ${oop}; IP: ${ip}`];
  });
  return [["Pot", `${spot.pot}, ${spot.stack} behind`], ["OOP", spot.oop], ["IP", spot.ip], ...sizes];
}
