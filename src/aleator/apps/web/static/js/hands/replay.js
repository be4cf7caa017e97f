// A hand that is over, step by step.

import { button, fill, h, isPlainKey } from "../dom.js";
import { inWords } from "../units.js";
import { doneBy } from "./line.js";
import { tableOf } from "./ring-felt.js";

export function makeReplay(hand, rival) {
  const table = h("div", { class: "felt table-felt" });
  const steps = h("div", { class: "replay-steps", role: "group", "aria-label": "Steps of the hand" });
  let now = 0;

  const label = ({ kind, player, text }) => {
    if (kind === "deal") return "deal";
    if (player === null) return text;
    const other = hand.seats.length > 2 ? hand.seats[player].title : "they";
    const who = player === hand.seat ? "you" : other;
    return `${who} ${doneBy(who, inWords(text, hand.big_blind))}`;
  };

  function go(at) {
    now = Math.max(0, Math.min(hand.steps.length - 1, at));
    fill(table, tableOf(hand, now, rival));
    const item = (step, index) =>
      button(label(step), () => go(index), { class: "chip", "aria-current": index === now ? "step" : null });
    fill(steps, hand.steps.map(item));
  }

  const keys = (event) => {
    if (!isPlainKey(event)) return;
    if (event.key === "ArrowRight") go(now + 1);
    if (event.key === "ArrowLeft") go(now - 1);
  };
  window.addEventListener("keydown", keys);
  go(hand.steps.length - 1);
  const element = h("section", { class: "after replay" }, table, steps);
  return { element, go, leave: () => window.removeEventListener("keydown", keys) };
}
