// A field for an amount of chips: pot, stacks, a cap. It is shown and typed in the unit that was chosen, or in the one that
// is typed behind the number: 5.5, 5.5bb, 550c.

import { h } from "../dom.js";
import { inUnit, isInBlinds, typedChips } from "../units.js";
import { finer, timesChips } from "./finer.js";

const bigBlind = (spot) => spot.min_bet || 1;

// says in all fields but one what a spot says
export function sync(fields, spot, except) {
  for (const { input, say } of fields) if (input !== except) input.value = say(spot);
}

const NAMES = { pot: "Pot", stack: "Stack behind", min_bet: "Big blind" };

// what is wrong with the amounts of a spot, or null
export function problemOf(spot) {
  for (const [key, name] of Object.entries(NAMES)) {
    const value = spot[key] ?? (key === "min_bet" ? 1 : "");
    if (typeof value === "string") return `${name}: “${value}” is not an amount. Type 55, 5.5bb or 550c.`;
    if (!Number.isInteger(value)) return `${name}: ${value} chips. Chips are whole; decimals are for big blinds.`;
  }
  return null;
}

// what a text stands for: null if it is empty, chips, or the text itself if it cannot be read
function takeTyped(spot, text) {
  if (text.trim() === "") return { value: null, times: 1 };
  const chips = typedChips(text, bigBlind(spot));
  if (Number.isNaN(chips)) return { value: text, times: 1 };
  const times = isInBlinds() || /bb/i.test(text) ? finer(chips) : 1;
  return { value: Number((chips * times).toFixed(6)), times };
}

export function chipsField(spot, { label, part, key }, { change, onfine, onfiner }) {
  const holder = (of) => (part ? of[part] : of);
  const say = (of) => {
    const chips = holder(of)[key] ?? null;
    return typeof chips === "number" ? String(inUnit(chips, bigBlind(of))) : (chips ?? "");
  };
  const oninput = () => {
    let isFiner = false;
    change((edited) => {
      const { value, times } = takeTyped(edited, input.value);
      timesChips(edited, times);
      holder(edited)[key] = value;
      isFiner = times > 1;
      if (isFiner) onfine(edited, input);
    });
    if (isFiner) onfiner();
  };
  const input = h("input", { type: "text", inputMode: "decimal", value: say(spot), "aria-label": label, oninput });
  return { input, say };
}
