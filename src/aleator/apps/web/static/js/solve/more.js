// Links between what can be done with spots.

import { h } from "../dom.js";

const PAGES = [
  ["solve", "Solve a spot"],
  ["preflop", "Charts before the flop"],
  ["reports", "Reports over flops"],
  ["compare", "Compare two solutions"],
];

export function moreLinks(current) {
  const link = ([page, title]) => h("a", { class: "button", href: `#/${page}` }, title);
  return h("p", { class: "row more" }, PAGES.filter(([page]) => page !== current).map(link));
}
