// EVs in chips or big blinds, and what they count from: a fold at the node is worth nothing, as players have it, or the
// chips put in since the root count.

import { amount, inWords, isInBlinds } from "../units.js";

export const FROM = [
  ["here", "Fold = 0"],
  ["root", "From the start"],
];
const KEY = "evs";

export const readFrom = () => (localStorage.getItem(KEY) === "root" ? "root" : "here");

export const keepFrom = (from) => localStorage.setItem(KEY, from);

const plus = (value, chips) => (value === null || value === undefined ? value : value + chips);

// a node as the server tells it, with EVs that count from here or from the root
export function nodeFrom(node, from) {
  if (from === "root") return node;
  const shift = (player) => (value) => plus(value, node.chips[player]);
  const actions = node.actions.map((action) => ({ ...action, ev: shift(node.player)(action.ev) }));
  const players = node.players.map((player, side) => ({
    ...player,
    ev: shift(side)(player.ev),
    evs: player.evs.map(shift(side)),
  }));
  return { ...node, actions, players };
}

export function handsFrom(found, { chips }, from) {
  const shift = (value) => plus(value, from === "root" ? 0 : chips[found.player]);
  const hands = found.hands.map((hand) => ({ ...hand, ev: shift(hand.ev), action_evs: hand.action_evs.map(shift) }));
  return { ...found, hands };
}

export function runoutsFrom(found, { chips }, from) {
  const shift = (value, side) => plus(value, from === "root" ? 0 : chips[side]);
  return { ...found, cards: found.cards.map((row) => ({ ...row, evs: row.evs.map(shift) })) };
}

// Values of a job in the unit that was chosen: a function of chips.
export const valueIn = (bigBlind) => (value) =>
  isInBlinds() && value !== null && value !== undefined ? value / bigBlind : value;

export const named = (actions, bigBlind) => actions.map((one) => ({ ...one, name: inWords(one.name, bigBlind) }));

// a node with its amounts in the unit that was chosen; its pot is a text
export function nodeInUnit(node, bigBlind) {
  const value = valueIn(bigBlind);
  const step = (one) => ({ ...one, pot: amount(one.pot, bigBlind), actions: named(one.actions ?? [], bigBlind) });
  return {
    ...node,
    pot: amount(node.pot, bigBlind),
    line: node.line.map(step),
    actions: named(node.actions, bigBlind).map((one) => ({ ...one, ev: value(one.ev) })),
    players: node.players.map((player) => ({ ...player, ev: value(player.ev), evs: player.evs.map(value) })),
  };
}

export function handsInUnit(found, bigBlind) {
  const value = valueIn(bigBlind);
  const hands = found.hands.map((hand) => ({ ...hand, ev: value(hand.ev), action_evs: hand.action_evs.map(value) }));
  return { ...found, hands };
}

export function runoutsInUnit(found, bigBlind) {
  const cards = found.cards.map((row) => ({ ...row, evs: row.evs.map(valueIn(bigBlind)) }));
  return { ...found, cards, actions: named(found.actions, bigBlind) };
}
