// What was played: sessions with their scores, the hands of one, the decisions that cost most.

import { api } from "../api.js";
import { cards } from "../cards.js";
import { attempt, button, fact, h, head, muted, panel, table, tag, titleRow } from "../dom.js";
import { ago, signed } from "../format.js";
import { luckText, redrawPage, signedAmount, unitChoice, unitName, wonText } from "../units.js";
import { decisionItem } from "./grades.js";
import { SESSION } from "./table.js";

const BIG_BLIND = 100; // of hands that are played here

// a win rate with its band, in thousandths of a big blind a hand
export function rate({ fair, band }) {
  if (fair === null || band === null) return "–"; // of less than 30 hands it would say nothing
  return `${signed(fair, 0)} ± ${Math.round(band).toLocaleString("en")}`;
}

const nameOf = (rivals, opponent) => {
  const rival = rivals.find(({ name }) => name === opponent);
  return rival?.title ?? opponent;
};

// what reviewed decisions gave up, street by street, and there by what was done
function leakTable(leaks) {
  const row = ({ street, kind, decisions, mistakes, given_up: lost }) =>
    h(
      "tr",
      { class: kind ? "" : "total" },
      h("th", {}, kind ? `— ${kind}` : street),
      h("td", {}, decisions),
      h("td", {}, mistakes),
      h("td", {}, `${lost.toFixed(2)} bb`),
      h("td", {}, `${(lost / decisions).toFixed(2)} bb`),
    );
  const heads = ["", "Decisions", "Mistakes", "Given up", "Per decision"].map((text) => head(text));
  return h("div", { class: "scroll-x" }, table({ class: "history-table" }, heads, leaks.map(row)));
}

export function historyPanel({ score, sessions, costliest, leaks }, rivals, onchange) {
  const row = (session) => {
    const forget = () => {
      if (!confirm(`Forget this session and its ${session.score.hands + session.practice} hands?`)) return;
      attempt(async () => onchange(await api.forgetSession(session.id)));
    };
    return h(
      "tr",
      {},
      h("th", {}, h("a", { href: `#/hands/session/${session.id}` }, nameOf(rivals, session.opponent))),
      h("td", {}, session.score.hands, session.practice > 0 && h("small", {}, ` + ${session.practice} practice`)),
      h("td", {}, signedAmount(session.score.won, BIG_BLIND)),
      h("td", {}, rate(session.score)),
      h("td", {}, ago(session.updated)),
      h("td", {}, button("✕", forget, { class: "quiet", "aria-label": "Forget this session" })),
    );
  };
  const heads = ["Against", "Hands", unitName(), "mbb/h without luck", "Played", ""].map((text) => head(text));
  const worst = costliest.map((decision) =>
    decisionItem(decision, { link: h("a", { href: `#/hands/played/${decision.hand_id}` }, "The whole hand") }),
  );
  const none = muted("Nothing yet. ", h("a", { href: "#/play/hunl" }, "Play a hand"), ".");
  const all = h("a", { class: "button quiet", href: "/api/hands/export", download: "" }, "Export all as PHH");
  return [
    panel(
      "",
      titleRow(h("h2", {}, "Sessions"), score.hands > 0 && [unitChoice(redrawPage), all]),
      h(
        "dl",
        { class: "facts wide" },
        fact("Heads-up hands", score.hands),
        fact(unitName(), signedAmount(score.won, BIG_BLIND), "won"),
        fact("mbb/h without luck", rate(score), "skill"),
      ),
      sessions.length
        ? h("div", { class: "scroll-x" }, table({ class: "history-table" }, heads, sessions.map(row)))
        : none,
    ),
    leaks.length > 0 && panel("", h("h2", {}, "Where it went, in reviewed hands"), leakTable(leaks)),
    worst.length > 0 && panel("", h("h2", {}, "Decisions that cost most"), h("div", { class: "after" }, worst)),
  ];
}

// the seats between the blinds and the button, by the number of players
const BETWEEN = {
  4: ["under the gun"], 5: ["under the gun", "cutoff"], 6: ["under the gun", "hijack", "cutoff"],
}; // prettier-ignore

export function positionOf({ seat, players }) {
  if (players === 2) return seat === 1 ? "button" : "big blind";
  return ["small blind", "big blind", ...(BETWEEN[players] ?? []), "button"][seat] ?? `seat ${seat + 1} of ${players}`;
}

export function handsOfSession(hands) {
  const row = (hand) =>
    h(
      "tr",
      {},
      h("th", {}, h("a", { href: `#/hands/played/${hand.id}` }, `Hand ${hand.number}`)),
      h(
        "td",
        {},
        cards(hand.cards, "tiny"),
        hand.board && h("span", { class: "on-board" }, " on ", cards(hand.board, "tiny")),
      ),
      h("td", {}, positionOf(hand)),
      h("td", {}, signedAmount(hand.won, BIG_BLIND)),
      h("td", {}, signedAmount(hand.fair, BIG_BLIND)),
      h("td", {}, hand.given_up === null ? "" : `${hand.given_up.toFixed(2)} bb`),
      h("td", {}, hand.practice && tag("practice")),
    );
  const heads = ["", "Cards", "Position", unitName(), "Without luck", "Given up", ""].map((text) => head(text));
  return h("div", { class: "scroll-x" }, table({ class: "history-table" }, heads, hands.map(row)));
}

export function handHead(hand, rivals) {
  const back = h("a", { class: "go-back", href: `#/hands/session/${hand.session}`, "aria-label": "The session" }, "‹");
  const won = tag(wonText(hand.won, hand.view.big_blind), hand.won >= 0 ? "good" : "warn");
  const fair = hand.fair !== null && tag(luckText(hand.won, hand.fair, hand.view.big_blind));
  const title = h("h1", {}, `Hand ${hand.view.number}`);
  return titleRow(back, title, tag(nameOf(rivals, hand.opponent)), won, fair, unitChoice(redrawPage));
}

const sumOf = (hands) => hands.reduce((sum, { won }) => sum + won, 0);

export const sessionHead = (id, hands) =>
  titleRow(
    h("a", { class: "go-back", href: "#/hands", "aria-label": "All sessions" }, "‹"),
    h("h1", {}, "Session"),
    tag(`${hands.length} hands, ${wonText(sumOf(hands), BIG_BLIND)}`),
    unitChoice(redrawPage),
    h("a", { class: "button", href: "#/play/hunl", onclick: () => localStorage.setItem(SESSION, id) }, "Play on"),
    h("a", { class: "button quiet", href: `/api/hands/export?session=${id}`, download: "" }, "Export as PHH"),
  );
