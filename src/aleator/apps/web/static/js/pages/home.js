// The first page: what can be done here.

import { h } from "../dom.js";
import { card, die } from "../cards.js";

const TILES = [
  ["play", "Play", "Bluff against an opponent that cannot be beaten, then see what it believed about your hand at every step, and what each of your moves cost.", "Liar's Dice, Kuhn, Leduc, hold'em spots"],
  ["solve", "Solve", "Paint two ranges, pick a board, and get the exact equilibrium of a hold'em spot. Walk its tree, look into single hands, lock a node and solve again.", "River and turn in seconds, flops in minutes"],
  ["learn", "Learn", "Race the algorithms of twenty years, from fictitious play to predictive CFR, on one chart, and watch the policies settle.", "Every algorithm of the library, on any small game"],
  ["runs", "Runs", "How ReBeL learns by playing against itself: the curves of every training run, live while it learns.", "The networks that come with it, and yours"],
];

export async function render(root) {
  const art = h(
    "div",
    { class: "hero-art", "aria-hidden": "true" },
    h("div", { class: "fan" }, card("As", "big"), card("Kh", "big"), card(null, "big")),
    h("div", { class: "throw" }, die(6, { wild: true, size: "big" }), die(3, { size: "big" }), die(null, { size: "big" })),
  );
  root.append(
    h(
      "section",
      { class: "hero" },
      h(
        "div",
        {},
        h("p", { class: "eyebrow" }, "Games with hidden information"),
        h("h1", {}, "It cannot see your hand. It does not need to."),
        h("p", { class: "lead" }, "Aleator finds equilibria: ways to play that no opponent can exploit, bluffs included. Everything here runs on this machine."),
        h("p", { class: "row" }, h("a", { class: "button primary", href: "#/play/liars-dice:1x6" }, "Play Liar's Dice"), h("a", { class: "button", href: "#/solve" }, "Solve a spot")),
      ),
      art,
    ),
    h(
      "section",
      { class: "tiles" },
      TILES.map(([page, title, text, note]) => h("a", { class: "tile", href: `#/${page}` }, h("h2", {}, title), h("p", {}, text), h("small", {}, note))),
    ),
  );
  return {};
}
