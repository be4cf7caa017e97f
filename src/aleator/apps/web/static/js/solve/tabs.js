// The pages of Solve, one beside the other above each of them.

import { h } from "../dom.js";

const PAGES = [
  ["solve", "Spots"],
  ["preflop", "Before the flop"],
  ["reports", "Reports over flops"],
  ["compare", "Compare"],
];

export function solveTabs(current) {
  const link = ([page, title]) =>
    h("a", { href: `#/${page}`, "aria-current": page === current ? "page" : undefined }, title);
  return h("nav", { class: "tabs", "aria-label": "Solve" }, PAGES.map(link));
}
