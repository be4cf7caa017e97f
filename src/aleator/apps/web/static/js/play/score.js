// The score of a session: as it went, and with the luck removed.

import { makeChart } from "../chart.js";
import { fact, fill, h, small } from "../dom.js";
import { signed } from "../format.js";

const HELP =
  "Result = your seat's value − what your decisions gave up + luck. Luck removed is the first two: lucky cards and lucky " +
  "calls cancel out, so it shows after a few deals what the score shows after hundreds.";

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
        { name: "as it went", colour: "var(--series-2)", points: runningSums(results, 0) },
        { name: "luck removed", colour: "var(--series-1)", points: runningSums(results, 1) },
      ],
    });
    const isPlayed = totals.deals > 0;
    const facts = h("dl", { class: "facts" }, scoreFacts(totals, unit));
    fill(element, h("h2", {}, "Score"), facts, isPlayed && chart.element, small(HELP));
  }

  return { element, show, leave: chart.leave };
}

function scoreFacts({ deals, won, skill, given_up: lost }, unit) {
  const isChips = unit === "chips";
  const each = (value, write) => (deals ? write(value / deals) : "–");
  return [
    fact("Deals", deals),
    fact("Won", signed(won, won % 1 ? 1 : 0), "won"),
    fact("Luck removed", signed(skill, isChips ? 1 : 2), "skill"),
    fact("Luck", signed(won - skill, isChips ? 1 : 2)),
    fact(
      "Given up, per deal",
      each(lost, (value) => value.toFixed(isChips ? 1 : 3)),
    ),
    fact(
      "Luck removed, per deal",
      each(skill, (value) => signed(value, isChips ? 1 : 3)),
    ),
  ];
}
