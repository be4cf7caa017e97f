// What the actions of a decision are worth, as a coach tells it.

import { actionColours, cards, stack } from "../cards.js";
import { button, h, head, table, tag } from "../dom.js";
import { percent, signed } from "../format.js";
import { amount, inWords } from "../units.js";

const KINDS = { fold: "fold", check: "call", call: "call", bet: "raise", raise: "raise" };

export const blinds = (value) => `${signed(value, 2)} bb`;

export function gradeTable({ actions, taken, big_blind: bigBlind = 100 }) {
  const colours = actionColours(actions.map(({ kind }) => ({ kind: KINDS[kind] })));
  const row = ({ name, policy, value, best }, at) =>
    h(
      "tr",
      { class: at === taken ? "taken" : "" },
      h("th", {}, inWords(name, bigBlind), at === taken && " ✓"),
      h("td", { class: "bar" }, stack([policy, 1 - policy], [colours[at], "transparent"])),
      h("td", {}, percent(policy)),
      h("td", { class: best ? "best" : "" }, blinds(value)),
    );
  const heads = ["", "the search plays", "", "worth"].map((text) => head(text));
  return table({ class: "policy" }, heads, actions.map(row));
}

export function verdict({ given_up: lost, mistake }) {
  if (mistake) return tag(`gave up ${lost.toFixed(2)} bb`, "warn");
  return lost > 0 ? tag(`fine, ${lost.toFixed(2)} bb from the best`) : tag("best", "good");
}

// a decision in a row: where it was, how it was judged, and what else could have been done
export function decisionItem(decision, { link, openSpot, again, isOpen = false } = {}) {
  const { street, board, hand, pot, actions, taken, big_blind: bigBlind = 100 } = decision;
  const spot = openSpot && h("button", { type: "button", class: "quiet", onclick: openSpot }, "Open as a spot");
  const retry = again && button("Try another action", () => again(decision.step), { class: "quiet" });
  return h(
    "details",
    { class: `decision ${decision.mistake ? "mistake" : ""}`, open: isOpen },
    h(
      "summary",
      {},
      cards(hand, "tiny"),
      h("span", { class: "on" }, "on"),
      cards(board, "tiny"),
      h("span", { class: "did" }, taken === null ? "" : inWords(actions[taken].name, bigBlind)),
      verdict(decision),
    ),
    h("p", { class: "muted small" }, `${street}, pot ${amount(pot * bigBlind, bigBlind)}; a fold is worth 0.`),
    gradeTable(decision),
    h("p", { class: "row" }, link, retry, spot),
  );
}
