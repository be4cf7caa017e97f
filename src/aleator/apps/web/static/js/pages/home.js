// The first page: what can be done here.

import { card, die } from "../cards.js";
import { h, s } from "../dom.js";

const LEAD =
  "Play poker against ReBeL and DeepStack, see what each of your decisions cost, and solve any spot exactly. Everything " +
  "here runs on this machine.";
const TILES = [
  {
    page: "play",
    title: "Play",
    art: () => h("span", { class: "cards" }, card("As", "medium"), card("Kh", "medium"), card(null, "medium")),
    text:
      "Whole hands of no-limit hold'em against opponents from a beginner to ReBeL, heads-up or six-handed, with hints. " +
      "Liar's Dice, Kuhn, Leduc and solved spots.",
    note: "Afterwards you see what each decision cost",
  },
  {
    page: "hands",
    title: "Hands",
    art: () => bars([0.9, 0.55, 0.35, 0.2]),
    text:
      "Every hand you played, to replay and review. Drop hand histories from elsewhere: each decision is graded, the " +
      "costliest first.",
    note: "PHH, ACPC logs, PokerStars' text",
  },
  {
    page: "solve",
    title: "Solve",
    art: () => miniGrid(),
    text:
      "Paint two ranges, pick a board, and get the exact equilibrium of a hold'em spot. Walk its tree, look into " +
      "single hands, lock a node and solve again. Preflop charts and reports over flops.",
    note: "River and turn in seconds, flops in minutes",
  },
  {
    page: "learn",
    title: "Learn",
    art: () => curves([0.5, 0.9, 1.6]),
    text:
      "Race twenty years of algorithms, from fictitious play to predictive CFR, on one chart, and watch the " +
      "policies settle.",
    note: "Every algorithm of the library, on any small game",
  },
  {
    page: "runs",
    title: "Runs",
    art: () => curves([1.1]),
    text: "How networks learn by playing against themselves: the curves of every training run, live while it learns.",
    note: "The networks that come with it, and yours",
  },
];

const picture = (...parts) => s("svg", { viewBox: "0 0 120 48", height: 48, "aria-hidden": "true" }, parts);
const colour = (at) => `var(--series-${at + 1})`;

// curves that fall, each at its rate
const curves = (rates) =>
  picture(
    s("path", { d: "M4 2 V44 H118", fill: "none", stroke: "var(--line)", "stroke-width": 2 }),
    rates.map((rate, at) => {
      const points = Array.from(
        { length: 28 },
        (_, x) => `${6 + 4 * x},${(6 + 34 * (1 - Math.exp((-x * rate) / 9))).toFixed(1)}`,
      );
      return s("polyline", { points: points.join(" "), fill: "none", stroke: colour(at), "stroke-width": 2.5 });
    }),
  );

const bars = (shares) =>
  picture(
    shares.map((share, at) =>
      s("rect", { x: 4, y: 3 + 11 * at, width: 112 * share, height: 7, rx: 3, fill: at ? colour(0) : "var(--bad)" }),
    ),
  );

// a grid of hands: raises above, calls in the middle, folds below
const miniGrid = () =>
  picture(
    Array.from({ length: 70 }, (_, at) => {
      const [x, y] = [at % 14, Math.floor(at / 14)];
      const fill = ["var(--range)", "var(--accent)", "var(--line)"][Math.min(2, Math.floor((x + 2 * y) / 6))];
      return s("rect", { x: 4 + 8 * x, y: 3 + 9 * y, width: 7, height: 8, rx: 1.5, fill });
    }),
  );

const big = { size: "big" };

function art() {
  const fan = h("div", { class: "fan" }, card("As", "big"), card("Kh", "big"), card(null, "big"));
  const thrown = h("div", { class: "throw" }, die(6, { wild: true, ...big }), die(3, big), die(null, big));
  return h("div", { class: "hero-art", "aria-hidden": "true" }, fan, thrown);
}

const tile = ({ page, title, art: makeArt, text, note }) =>
  h(
    "a",
    { class: "tile", href: `#/${page}` },
    h("div", { class: "tile-art" }, makeArt()),
    h("h2", {}, title),
    h("p", {}, text),
    h("small", {}, note),
  );

export async function render(root) {
  const links = [
    h("a", { class: "button primary", href: "#/play/hunl" }, "Play a hand"),
    h("a", { class: "button", href: "#/play/liars-dice:1x6" }, "Play Liar's Dice"),
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
