// Amounts as people read and type them, in chips or in big blinds. All is kept in whole chips: this is a view of them.

import { choices } from "./dom.js";
import { luckOf } from "./luck.js";

const KEY = "unit";
const UNITS = [
  ["chips", "Chips"],
  ["bb", "Big blinds"],
];
const MINUS = "−";
const FINEST = 100; // parts of a big blind that can be typed

const WHOLE_HANDS = /^#\/(play|hands|preflop)/; // pages where amounts are big blinds until chips are chosen

const unit = () => localStorage.getItem(KEY) ?? (WHOLE_HANDS.test(location.hash) ? "bb" : "chips");
export const isInBlinds = () => unit() === "bb";
export const unitName = () => (isInBlinds() ? "Big blinds" : "Chips");

// the head of a column of amounts
export const withUnit = (title) => (isInBlinds() ? `${title}, bb` : title);

// the switch between the two, which is kept for all pages
export const unitChoice = (onchange) =>
  choices("Amounts in", UNITS, unit(), (chosen) => {
    localStorage.setItem(KEY, chosen);
    onchange();
  });

// another page goes on with the unit of this one
export const keepUnit = () => localStorage.setItem(KEY, unit());

// draws the page that is open anew
export const redrawPage = () => window.dispatchEvent(new Event("hashchange"));

export const toCents = (value) => Math.round(value * FINEST) / FINEST;

// chips as a number of the unit that was chosen
export const inUnit = (chips, bigBlind) => (isInBlinds() ? toCents(chips / bigBlind) : chips);

export function amount(chips, bigBlind) {
  if (!isInBlinds()) return Math.round(chips).toLocaleString("en");
  return `${toCents(chips / bigBlind).toLocaleString("en")} bb`;
}

export function signedAmount(chips, bigBlind) {
  if (chips === null || chips === undefined) return "–";
  const text = amount(Math.abs(chips), bigBlind);
  if (Number.parseFloat(text) === 0) return text;
  return (chips < 0 ? MINUS : "+") + text;
}

// the same with its unit, as in "+250 chips"
export const wonText = (chips, bigBlind) => signedAmount(chips, bigBlind) + (isInBlinds() ? "" : " chips");

// what luck was of a result: both parts add up to it as they are shown
export function luckText(won, fair, bigBlind) {
  const [unitSize, digits] = isInBlinds() ? [bigBlind, 2] : [1, 0];
  const luck = luckOf(won / unitSize, [fair / unitSize], digits) * unitSize;
  return `${signedAmount(fair, bigBlind)} without luck, ${signedAmount(luck, bigBlind)} luck`;
}

// an action in words, such as "raise to 2,500", with its amount in the unit that was chosen
export function inWords(text, bigBlind) {
  if (!isInBlinds()) return text.replaceAll(/\d{4,}/g, (chips) => Number(chips).toLocaleString("en"));
  return text.replaceAll(/\d[\d,]*/g, (chips) => amount(Number(chips.replaceAll(",", "")), bigBlind));
}

// What was typed as chips, not rounded: "300" in the unit that was chosen, "2.5bb", "2,5 bb" and "300c" as they say.
export function typedChips(text, bigBlind) {
  const plain = text.trim().toLowerCase().replace(/,(\d{1,2})(?!\d)/, ".$1").replaceAll(",", ""); // prettier-ignore
  const found = /^(\d+\.?\d*|\.\d+)\s*(bb|c|chips)?$/.exec(plain);
  if (!found) return Number.NaN;
  const isBlinds = found[2] ? found[2] === "bb" : isInBlinds();
  return isBlinds ? toCents(Number(found[1])) * bigBlind : Number(found[1]);
}
