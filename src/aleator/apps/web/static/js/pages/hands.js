// Hands: the history of what was played, hands to replay and review, and files of one's own.

import { api } from "../api.js";
import { attempt, button, fill, h, muted, panel, table, tag, titleRow } from "../dom.js";
import { ago } from "../format.js";
import { dropPanel, showGrading } from "../hands/files.js";
import { handHead, handsOfSession, historyPanel, sessionHead } from "../hands/history.js";
import { makeReplay } from "../hands/replay.js";
import { askReview, reviewOfHand } from "../hands/table.js";
import { redrawPage, unitChoice } from "../units.js";

const LEAD =
  "Everything you play is kept on this machine. Replay it, let the coach grade it, or export it. Hands from elsewhere " +
  "are graded the same way.";

export async function render(root, [part, id, record]) {
  if (part === "session") return showSession(root, id);
  if (part === "played") return showPlayed(root, id);
  if (part === "file" && record !== undefined) return showGraded(root, id, Number(record));
  if (part === "file") return { leave: showGrading(root, await api.job(id)) };
  return showOverview(root);
}

async function showOverview(root) {
  const [rivals, jobs] = await Promise.all([api.rivals(), api.jobs("grade")]);
  const played = h("div", { class: "after" });
  const refresh = async () => fill(played, historyPanel(await api.handHistory(), rivals, refresh));
  const drop = dropPanel((job) => (location.hash = `#/hands/file/${job.id}`));
  const files = h("div", {}, drop.element, jobs.length > 0 && gradedFiles(jobs));
  fill(root, h("h1", {}, "Hands"), h("p", { class: "lead" }, LEAD), h("div", { class: "play-columns" }, played, files));
  await refresh();
  return { leave: drop.leave };
}

const STATES = { queued: "waiting", running: "being graded", failed: "failed", cancelled: "cancelled" };

function gradedFiles(jobs) {
  const row = ({ id, name, status, created }) =>
    h(
      "tr",
      {},
      h("th", {}, h("a", { href: `#/hands/file/${id}` }, name), STATES[status] && [" ", tag(STATES[status])]),
      h("td", {}, ago(created)),
    );
  return panel("", h("h2", {}, "Graded files"), table({}, [], jobs.map(row)));
}

async function showSession(root, id) {
  const hands = await api.sessionHands(id);
  fill(root, sessionHead(id, hands), hands.length ? handsOfSession(hands) : muted("No hand is over yet."));
  return {};
}

async function showPlayed(root, id) {
  const [rivals, hand] = await Promise.all([api.rivals(), api.playedHand(id)]);
  const rival = rivals.find(({ name }) => name === hand.opponent) ?? { title: "Opponent" };
  const replay = makeReplay(hand.view, rival);
  const review = h("section", { class: "after" });
  const ask = () =>
    attempt(async () => {
      fill(review, reviewOfHand(await askReview(review, id), { hand: id }));
    });
  fill(review, hand.review ? reviewOfHand(hand.review, { hand: id }) : button("Review this hand", ask));
  fill(root, handHead(hand, rivals), h("div", { class: "play-columns" }, replay.element, review));
  return { leave: () => replay.leave() };
}

async function showGraded(root, id, record) {
  const [job, view] = await Promise.all([api.job(id), api.gradedHand(id, record)]);
  const replay = makeReplay(view, { title: "Opponent" });
  const [decisions, ungraded] = ["decisions", "ungraded"].map((name) =>
    (job.summary?.[name] ?? []).filter((one) => one.record === record),
  );
  const back = h("a", { class: "go-back", href: `#/hands/file/${id}`, "aria-label": "All decisions" }, "‹");
  const review = h("section", { class: "after" }, reviewOfHand({ decisions, ungraded, note: "" }, { job: id }));
  fill(
    root,
    titleRow(back, h("h1", {}, `Hand ${view.number}`), unitChoice(redrawPage)),
    h("div", { class: "play-columns" }, replay.element, review),
  );
  return { leave: () => replay.leave() };
}
