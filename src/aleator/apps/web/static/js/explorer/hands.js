// The single hands of a class: how often each action is taken, and what it is worth.

import { CLASSES, cards, stack } from "../cards.js";
import { dot, h, head, muted, small, table, tag, titleRow } from "../dom.js";
import { column, mixText, percent } from "../format.js";
import { SIDES } from "../spot.js";

const HELP = "How often each action is taken, and what it is worth; green is the best.";

export function handsPanel(view, found) {
  const name = CLASSES[view.chosen];
  const title = titleRow(h("h2", {}, `${name}, hand by hand`), tag(SIDES[view.side]));
  if (!found.hands.length) return [title, muted(`No hand of ${name} gets here. Choose another class in the grid.`)];
  return [title, handsTable(view, found.hands), view.acting && small(HELP)];
}

function handsTable({ node, acting, colours }, hands) {
  const shown = acting ? node.actions : [];
  const worth = column(hands.flatMap(({ ev, action_evs: evs }) => [ev, ...evs]));
  const heads = shown.map((action, at) => h("th", {}, dot(colours[at]), action.name));
  const row = (hand) => {
    const bar = acting && stack(hand.policy, colours, mixText(node.actions, hand.policy));
    const cells = shown.map((_, at) => actionCell(hand, at, worth));
    const values = [h("td", {}, worth(hand.ev)), h("td", {}, percent(hand.equity))];
    return h("tr", {}, h("th", {}, cards(hand.hand, "tiny"), bar), cells, values);
  };
  return table({}, [head(""), heads, head("EV"), head("Equity")], hands.map(row));
}

// an action of one hand: how often, and its EV
function actionCell({ policy, action_evs: evs }, at, worth) {
  const value = evs[at];
  const kind = isBest(evs, at) ? "best" : "";
  const ev = value !== undefined && h("small", { class: kind }, worth(value));
  return h("td", { class: `action ${policy[at] < 0.005 ? "never" : ""}` }, percent(policy[at]), ev);
}

// whether an action is as good as the best, up to a thousandth
export function isBest(evs, at) {
  const best = Math.max(...evs);
  return evs[at] !== undefined && evs[at] >= best - 1e-3 * Math.max(1, Math.abs(best));
}
