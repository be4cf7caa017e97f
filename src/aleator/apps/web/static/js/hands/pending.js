// A hand as it stands after a move that the server has not answered yet: the chips move at once.

const number = (chips) => chips.toLocaleString("en");

function words(move, { call, max, verb }, raiseTo) {
  if (move === "f") return "fold";
  if (move === "c") return call ? `call ${number(call)}` : "check";
  if (raiseTo === max) return `all-in ${number(raiseTo)}`;
  return `${verb === "raise" ? "raise to" : "bet"} ${number(raiseTo)}`;
}

const at = (list, place, value) => list.map((old, index) => (index === place ? value : old));

// null for moves that are no actions
export function afterMove(hand, move) {
  const found = /^(?:f|c|r(\d+))$/.exec(move);
  if (!found || !hand.legal) return null;
  const { seat, legal } = hand;
  const last = hand.steps.at(-1);
  const raiseTo = Number(found[1] ?? 0);
  const paid = { f: 0, c: legal.call }[move] ?? raiseTo - last.bets[seat];
  const step = {
    ...last,
    kind: move === "f" ? "fold" : "act",
    player: seat,
    text: words(move, legal, raiseTo),
    pot: last.pot + paid,
    bets: at(last.bets, seat, last.bets[seat] + paid),
    stacks: at(last.stacks, seat, last.stacks[seat] - paid),
    folded: at(last.folded ?? [], seat, move === "f"),
    to_act: null,
  };
  return { ...hand, legal: null, steps: [...hand.steps, step] };
}
