// A decision of a whole hand as a spot in the editor.

import { api } from "../api.js";
import { attempt } from "../dom.js";
import { keepUnit } from "../units.js";

export const SPOT = "spot to open";

// what the editor begins with if a decision was opened as a spot; it is taken once
export function takeSpot() {
  const text = sessionStorage.getItem(SPOT);
  sessionStorage.removeItem(SPOT);
  return text ? JSON.parse(text) : {};
}

// opens a page that begins with a spot: the editor, or that of reports
export function openSpot(page, spot, title) {
  keepUnit();
  sessionStorage.setItem(SPOT, JSON.stringify({ spot, title }));
  location.hash = `#/${page}?spot=1`;
}

export function openSpotOf({ hand, job }, decision) {
  return attempt(async () => {
    const spot = hand ? await api.spotOfHand(hand, decision.step) : await api.spotOfGraded(job, decision);
    openSpot("solve", spot, `${decision.hand} on ${decision.board}`);
  });
}
