// A node at a glance: who acts, how often each action is taken, both players; and a range by types of hands.

import { stack } from "../cards.js";
import { button, dot, h, head, table, tag, titleRow } from "../dom.js";
import { chips, column, mixText, number, percent } from "../format.js";
import { SIDES } from "../spot.js";
import { withUnit } from "../units.js";

const KINDS = {
  decision: ({ player }) => `${SIDES[player]} to act`,
  fold: ({ folded }) => `${SIDES[folded]} has folded`,
  showdown: () => "Showdown",
  next_street: () => "The next card comes",
};

export function summaryPanel(view) {
  const { node, colours } = view;
  const often = node.actions.map((action) => action.frequency ?? 0);
  return [
    titleRow(h("h2", {}, KINDS[node.kind](node)), tag(`pot ${node.pot}`)),
    node.actions.length > 0 && [stack(often, colours), actionsTable(view)],
    playersTable(node),
  ];
}

function actionsTable({ node, colours, go }) {
  const worth = column(node.actions.map(({ ev }) => ev));
  const row = ({ name, token, frequency, ev }, index) => {
    const parts = [dot(colours[index]), name, h("kbd", {}, index + 1)];
    const link = button(parts, () => go(`${node.path}:${token}`), { class: "link" });
    const value = node.values ? worth(ev) : "…";
    return h("tr", {}, h("th", {}, link), h("td", {}, percent(frequency, 1)), h("td", {}, value));
  };
  const heads = ["Action", "How often", withUnit("EV when taken")].map((text) => head(text));
  return table({ class: "actions-table" }, heads, node.actions.map(row));
}

function playersTable(node) {
  const row = ({ num_hands: hands, equity, ev }, side) =>
    h(
      "tr",
      {},
      h("th", {}, SIDES[side]),
      h("td", {}, number(hands, 4)),
      h("td", {}, percent(equity, 1)),
      h("td", {}, node.values ? chips(ev, 4) : "…"),
    );
  const heads = ["", "Hands", "Equity", withUnit("EV")].map((text) => head(text));
  return table({ class: "players" }, heads, node.players.map(row));
}

// the range by what its hands are on this board
export function typesPanel(view) {
  const { node, side } = view;
  const { types } = node.players[side];
  const ofKind = (kind) => types.filter((type) => type.kind === kind);
  return [
    titleRow(h("h2", {}, "By type of hand"), tag(SIDES[side])),
    typesTable(view, "Made hand", ofKind("made")),
    typesTable(view, "Draw", ofKind("draw")),
  ];
}

function typesTable({ node, acting, colours }, title, types) {
  const bar = (policy) => h("td", { class: "bar" }, stack(policy, colours, mixText(node.actions, policy)));
  const row = ({ name, policy, share, equity }) =>
    h("tr", {}, h("th", {}, name), acting && bar(policy), h("td", {}, percent(share, 1)), h("td", {}, percent(equity)));
  const heads = [head(title), acting && head("Policy", "bar"), head("Of range"), head("Equity")];
  return types.length > 0 && table({}, heads, types.map(row));
}
