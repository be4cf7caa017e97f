// The first page: what can be done here.

import { card, die } from "../cards.js";
import { h } from "../dom.js";

const LEAD =
  "Aleator finds equilibria: ways to play that no opponent can exploit, bluffs included. Everything here runs on this " +
  "machine.";
const TILES = [
  {
    page: "play",
    title: "Play",
    text:
      "Bluff against an opponent that cannot be beaten, then see what it believed about your hand at every step, and " +
      "what each of your moves cost.",
    note: "Liar's Dice, Kuhn, Leduc, hold'em spots",
  },
  {
    page: "solve",
    title: "Solve",
    text:
      "Paint two ranges, pick a board, and get the exact equilibrium of a hold'em spot. Walk its tree, look into " +
      "single hands, lock a node and solve again.",
    note: "River and turn in seconds, flops in minutes",
  },
  {
    page: "learn",
    title: "Learn",
    text:
      "Race the algorithms of twenty years, from fictitious play to predictive CFR, on one chart, and watch the " +
      "policies settle.",
    note: "Every algorithm of the library, on any small game",
  },
  {
    page: "runs",
    title: "Runs",
    text: "How ReBeL learns by playing against itself: the curves of every training run, live while it learns.",
    note: "The networks that come with it, and yours",
  },
];

const big = { size: "big" };

function art() {
  const fan = h("div", { class: "fan" }, card("As", "big"), card("Kh", "big"), card(null, "big"));
  const thrown = h("div", { class: "throw" }, die(6, { wild: true, ...big }), die(3, big), die(null, big));
  return h("div", { class: "hero-art", "aria-hidden": "true" }, fan, thrown);
}

const tile = ({ page, title, text, note }) =>
  h("a", { class: "tile", href: `#/${page}` }, h("h2", {}, title), h("p", {}, text), h("small", {}, note));

export async function render(root) {
  const links = [
    h("a", { class: "button primary", href: "#/play/liars-dice:1x6" }, "Play Liar's Dice"),
    h("a", { class: "button", href: "#/solve" }, "Solve a spot"),
  ];
  const words = [
    h("p", { class: "eyebrow" }, "Games with hidden information"),
    h("h1", {}, "It cannot see your hand. It does not need to."),
    h("p", { class: "lead" }, LEAD),
    h("p", { class: "row" }, links),
  ];
  root.append(
    h("section", { class: "hero" }, h("div", {}, words), art()),
    h("section", { class: "tiles" }, TILES.map(tile)),
  );
  return {};
}
