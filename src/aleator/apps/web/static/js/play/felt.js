// The table itself: hands, what was said, and what can be done next.

import { card, cards, dice, die } from "../cards.js";
import { button, h } from "../dom.js";
import { number } from "../format.js";

// A hand of a game: dice if it has faces, cards otherwise; hidden without a text.
export function handPicture({ game, faces, count }, text, size) {
  if (faces && text) return dice(text, faces, size);
  if (faces)
    return h(
      "span",
      { class: "dice" },
      hidden(count, () => die(null, { size })),
    );
  if (game !== "holdem") return h("span", { class: "cards" }, card(text, size));
  return text
    ? cards(text, size)
    : h(
        "span",
        { class: "cards" },
        hidden(2, () => card(null, size)),
      );
}

const hidden = (count, picture) => Array.from({ length: count }, picture);

export function bid(option, faces) {
  if (option.label === "liar") return h("b", { class: "liar" }, "Liar!");
  const [quantity, face] = option.label.split("x").map(Number);
  return h("span", { class: "said-bid" }, `${quantity}×`, die(face, { wild: face === faces }));
}

export function seat(kind, who, deal) {
  const mine = who === "you";
  const place = mine ? deal.seat : 1 - deal.seat;
  const turn = !deal.over && mine;
  const inPot = deal.scene.chips?.[place];
  const told = [place === 0 ? "acts first" : "acts second", inPot ? `, ${inPot} in` : ""];
  const name = h("div", { class: "who" }, h("b", {}, mine ? "You" : "Agent"), h("small", {}, told));
  const hand = handPicture(kind, mine ? deal.hand : deal.agent_hand, "big");
  return h("div", { class: `seat ${who} ${turn ? "turn" : ""}` }, name, hand);
}

export function middle(kind, deal) {
  const said = deal.steps.filter((step) => step.who !== "deal").map((step) => saidItem(step, kind.faces));
  const nothing = h("li", { class: "none" }, deal.seat === 0 ? "You begin." : "The agent begins.");
  const { board, pot } = deal.scene;
  return h(
    "div",
    { class: "middle" },
    board && h("div", { class: "board" }, kind.game === "holdem" ? cards(board, "big") : card(board, "big")),
    pot !== undefined && h("p", { class: "pot" }, `Pot ${number(pot)}`),
    h("ol", { class: "said", "aria-label": "Moves so far" }, said.length ? said : nothing),
  );
}

function saidItem(step, faces) {
  if (step.who === "chance") return h("li", { class: "chance" }, card(step.label, "small"));
  const option = step.options[step.taken];
  return h("li", { class: step.who }, faces ? bid(option, faces) : option.name);
}

export function actions(faces, deal, onmove, most = 2 * deal.hand.length) {
  return faces ? bidActions(faces, deal, onmove, most) : buttonActions(deal, onmove);
}

function buttonActions(deal, onmove) {
  const act = ({ label, name, kind }, index) => {
    const properties = { class: `act ${kind}`, dataset: { label } };
    return button([name, h("kbd", {}, index + 1)], () => onmove(label), properties);
  };
  return h("div", { class: "actions" }, deal.options.map(act));
}

function bidActions(faces, deal, onmove, most) {
  const legal = new Set(deal.options.map((option) => option.label));
  const labels = Array.from({ length: most * faces }, (_, at) => [Math.floor(at / faces) + 1, (at % faces) + 1]);
  const key = ([quantity, face]) => {
    const label = `${quantity}x${face}`;
    const said = `bid ${quantity} of face ${face}`;
    const properties = { class: "bid", disabled: !legal.has(label), dataset: { label }, "aria-label": said };
    return button([h("b", {}, `${quantity}×`), die(face, { wild: face === faces })], () => onmove(label), properties);
  };
  const bids = h("div", { class: "bids", style: { "--faces": String(faces) } }, labels.map(key));
  const properties = { class: "act challenge", disabled: !legal.has("liar"), dataset: { label: "liar" } };
  const liar = button(["Liar!", h("kbd", {}, "L")], () => onmove("liar"), properties);
  return h("div", { class: "actions dice-actions" }, bids, liar);
}

export function result(won, { unit, match }, onnext) {
  const size = number(Math.abs(won));
  const amount = `${size} ${size === "1" ? unit.slice(0, -1) : unit}`;
  const [kind, text] = match ? roundOutcome(won, match) : outcome(won, amount);
  const isOver = match?.dice.includes(0);
  const next = button([isOver ? "New match" : "Next deal", h("kbd", {}, "N")], onnext, { class: "primary next" });
  return h("div", { class: `result ${kind}` }, h("b", {}, text), next);
}

const diceText = (count) => (count === 1 ? "1 die" : `${count} dice`);

// what a round of a match did: who lost a die, and whether that was the last one
function roundOutcome(won, { dice: left, won: matches }) {
  const kind = won > 0 ? "good" : "bad";
  const score = `matches ${matches[0]} : ${matches[1]}`;
  if (left.includes(0)) return [kind, `You ${won > 0 ? "win" : "lose"} the match; ${score}`];
  const told = `you have ${diceText(left[0])}, the agent ${diceText(left[1])}`;
  return [kind, `${won > 0 ? "The agent loses" : "You lose"} a die: ${told}`];
}

function outcome(won, amount) {
  if (won === 0) return ["", "A tie"];
  return won > 0 ? ["good", `You win ${amount}`] : ["bad", `You lose ${amount}`];
}
