// The score of a session: as it went, and without luck.

import { makeChart } from "../chart.js";
import { fact, fill, h, small } from "../dom.js";
import { signed } from "../format.js";
import { AS_IT_WENT, LUCK, WITHOUT_LUCK, commonDigits, luckOf, rounded } from "../luck.js";

const HELP =
  `Result = your seat's value − what your decisions gave up + what the agent gave away + luck. ${LUCK} So the score ` +
  "without luck shows after a few deals what the other one shows after hundreds.";

// the sums of a column of results, deal by deal, from 0
export function runningSums(results, column) {
  let sum = 0;
  return [[0, 0], ...results.map((row, index) => [index + 1, (sum += row[column])])];
}

export function makeScore() {
  const element = h("section", { class: "panel score", "aria-label": "Score" });
  const label = "Score over deals, with and without luck";
  const chart = makeChart({ label, xLabel: "deals", yLabel: "", height: 190 });

  function show({ totals, results, unit }) {
    chart.set({
      series: [
        { name: AS_IT_WENT.toLowerCase(), colour: "var(--series-2)", points: runningSums(results, 0) },
        { name: WITHOUT_LUCK.toLowerCase(), colour: "var(--series-1)", points: runningSums(results, 1) },
      ],
    });
    const isPlayed = totals.deals > 0;
    const facts = h("dl", { class: "facts" }, scoreFacts(totals, unit));
    fill(element, h("h2", {}, "Score"), facts, isPlayed && chart.element, small(HELP));
  }

  return { element, show, leave: chart.leave };
}

export function scoreFacts({ deals, won, skill, given_up: lost }, unit) {
  const isChips = unit === "chips";
  const digits = commonDigits([won, skill, won - skill], isChips ? 1 : 2);
  const each = (value, write) => (deals ? write(value / deals) : "–");
  return [
    fact("Deals", deals),
    fact("Won", signed(rounded(won, digits), won % 1 ? digits : 0), "won"),
    fact(WITHOUT_LUCK, signed(rounded(skill, digits), digits), "skill"),
    fact("Luck", signed(luckOf(won, [skill], digits), digits)),
    fact(
      "Given up, per deal",
      each(lost, (value) => value.toFixed(isChips ? 1 : 3)),
    ),
    fact(
      `${WITHOUT_LUCK}, per deal`,
      each(skill, (value) => signed(value, isChips ? 1 : 3)),
    ),
  ];
}
