// What a solve will take, asked for while one types.

import { api } from "../api.js";
import { debounce, fact, fill, h } from "../dom.js";
import { bytes, number, seconds } from "../format.js";

// an estimate, or why there is none
async function estimated(request, measured) {
  try {
    return await api.estimate({ ...request(), measure: measured });
  } catch (error) {
    return { error };
  }
}

// request() gives what would be solved, or throws; onknown({ problem, time }) is told what is known of
// it, of what was just changed the time alone
export function makeEstimate(request, onknown) {
  const element = h("div", { class: "estimate", "aria-live": "polite" });
  let [turn, asking] = [0, false];

  // one estimate at a time: what changes meanwhile is asked for once the answer is there
  const measure = debounce(() => ask(true), 900);
  const look = debounce(() => ask(false), 250);

  async function ask(measured) {
    if (asking) return;
    const mine = ++turn;
    asking = true;
    const found = await estimated(request, measured);
    asking = false;
    if (mine !== turn) {
      look();
      return;
    }
    element.classList.remove("stale");
    if (found.error) refuse(found.error);
    else {
      show(found);
      if (!measured) measure();
    }
  }

  function refuse(error) {
    onknown({ problem: error.message, time: "" });
    fill(element, h("p", { class: "problem-text", role: "alert" }, error.message));
  }

  function show(found) {
    const isMeasured = found.seconds !== null;
    const time = isMeasured ? seconds(found.seconds) : h("span", { class: "measuring" }, "measuring …");
    const facts = [
      fact("Nodes", number(found.nodes.reduce((a, b) => a + b, 0))),
      fact("Hands", `${found.hands[0]} × ${found.hands[1]}`),
      fact("Memory", bytes(found.memory)),
      fact("Time, about", time),
    ];
    const free = `That does not fit the ${bytes(found.free_memory)} that are free`;
    const advice = `${free}: use 16 bits, fewer sizes or smaller ranges.`;
    onknown({
      problem: found.fits ? "" : advice,
      time: isMeasured && found.fits ? `about ${seconds(found.seconds)}` : "",
    });
    fill(element, h("dl", { class: "facts" }, facts), !found.fits && h("p", { class: "problem-text" }, advice));
  }

  return {
    element,
    forget: () => (turn += 1),
    // how long it takes is known of the spot before alone: that is not told any longer
    refresh() {
      turn += 1;
      element.classList.add("stale");
      onknown({ time: "" });
      look();
    },
  };
}
