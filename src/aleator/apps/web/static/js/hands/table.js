// A table for whole hands of no-limit hold'em, against an agent or several.

import { api } from "../api.js";
import { attempt, button, fact, fill, h, isPlainKey, muted, panel, small, tag, titleRow } from "../dom.js";
import { signed } from "../format.js";
import { AS_IT_WENT, LUCK, WITHOUT_LUCK, luckOf, rounded } from "../luck.js";
import { amount, luckText, signedAmount, unitChoice, unitName } from "../units.js";
import { waitBar, waitDots, watched } from "../waiting.js";
import { keyMove, makeControls } from "./controls.js";
import { chartItem, chartLink, decisionItem, gradeTable, ungradedList } from "./grades.js";
import { makeLine } from "./line.js";
import { afterMove } from "./pending.js";
import { tableOf } from "./ring-felt.js";
import { makeSound } from "./sound.js";
import { openSpotOf } from "./spots.js";

const PAUSES = { board: 700, deal: 250 };
const SLOW = "The first time, networks are loaded and kernels compiled: up to a minute.";
const SLOW_HINT = "The first hint with new stacks takes a few seconds: the betting before the flop is solved once.";
export const SESSION = "hands session"; // under which the browser keeps the one that is played
const STACKS = [20, 50, 100, 200]; // in big blinds
const BIG_BLIND = 100;

const isStill = () => window.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? true;
const pause = (time) => new Promise((done) => setTimeout(done, isStill() ? 0 : time));

export class HandTable {
  constructor(rivals, { opponent, stack }) {
    Object.assign(this, { rivals, opponent, stack, busy: false, isSettled: false, session: null, turn: 0 });
    this.felt = h("section", { class: "felt table-felt", "aria-label": "The table", "aria-live": "polite" });
    this.controls = makeControls((move) => this.move(move));
    this.below = h("section", { class: "after" });
    this.score = panel("score");
    this.hintBox = h("div", { class: "hint-box" });
    this.line = makeLine();
    this.sound = makeSound();
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
  }

  leave() {
    this.turn += 1;
    window.removeEventListener("keydown", this.keys);
  }

  get rival() {
    return this.rivals.find(({ name }) => name === this.session?.opponent) ?? { title: "Opponent" };
  }

  async open(root) {
    const back = h("a", { class: "go-back", href: "#/play", "aria-label": "All games" }, "‹");
    this.heading = h("h1", {}, "No-limit hold'em");
    this.against = h("span", {});
    const history = h("a", { class: "button quiet", href: "#/hands" }, "History");
    const table = h("div", {}, this.felt, this.controls.element, this.below);
    const side = h("div", {}, this.hintBox, this.line.element, this.score, this.help());
    const unit = unitChoice(() => this.redraw());
    fill(
      root,
      titleRow(back, this.heading, this.against, this.stackChoice(), unit, history, this.sound.element),
      h("div", { class: "play-columns" }, table, side),
    );
    const known = this.opponent ? null : await this.recall();
    if (known) await this.show(known, known.hand.steps.length - 1);
    else await this.begin(this.opponent ?? "tight-aggressive");
  }

  // stacks to play with; another one begins a new session
  stackChoice() {
    const option = (size) => h("option", { value: String(size) }, `${size} bb`);
    const begin = () => {
      this.stack = Number(this.stacks.value) * BIG_BLIND;
      if (!this.busy && this.session) this.begin(this.session.opponent);
    };
    this.stacks = h(
      "select",
      { "aria-label": "Stacks", title: "Stacks; another one begins a new session", onchange: begin },
      STACKS.map(option),
    );
    this.stacks.value = String((this.stack ?? 100 * BIG_BLIND) / BIG_BLIND);
    return this.stacks;
  }

  showStacks(size) {
    const isKnown = [...this.stacks.options].some(({ value }) => value === String(size));
    if (!isKnown) this.stacks.append(h("option", { value: String(size) }, `${size} bb`));
    this.stacks.value = String(size);
    this.stacks.disabled = Boolean(this.rival.stack); // who plays with these stacks only
  }

  async recall() {
    const id = localStorage.getItem(SESSION);
    return id && (await api.handSession(id).catch(() => null));
  }

  async begin(opponent) {
    const wait = h("p", { class: "wait" }, "Shuffling ", waitDots());
    fill(this.felt, wait);
    const slow = setTimeout(() => wait.append(h("br"), h("small", {}, SLOW)), 2500);
    try {
      const session = await api.newHandSession({ opponent, stack: this.stack });
      localStorage.setItem(SESSION, session.id);
      history.replaceState(null, "", "#/play/hunl");
      await this.show(session, 0);
    } catch (error) {
      const again = button("Try again", () => this.begin(opponent));
      fill(this.felt, h("p", { class: "wait" }, error.message), h("p", { class: "actions" }, again));
    } finally {
      clearTimeout(slow);
    }
  }

  async move(move) {
    if (this.busy || !this.isSettled) return;
    if (move === "hint") return this.hint();
    if (move.startsWith("size ")) return this.controls.choose(Number(move.slice(5)));
    this.busy = true;
    this.felt.dataset.ready = "";
    const before = this.session.hand;
    const pending = afterMove(before, move);
    const shown = pending ?? before;
    const from =
      { deal: () => 0, undo: ({ steps }) => steps.length - 1 }[move.split(" ")[0]] ?? (() => shown.steps.length);
    const draw = (options) => fill(this.felt, tableOf(shown, shown.steps.length - 1, this.rival, options));
    fill(this.hintBox);
    fill(this.below);
    this.controls.show(before, true);
    if (pending) draw({}); // what you did is seen at once, whatever the answer takes
    const thinking = setTimeout(() => draw({ isThinking: true }), 300);
    let next = null;
    const { id, moment } = this.session;
    await attempt(async () => ([next] = await Promise.all([api.handMove(id, move, moment), pause(300)])));
    clearTimeout(thinking);
    this.busy = false;
    if (next) await this.show(next, from(next.hand));
    else await this.lookAgain();
  }

  // where the hand really is, after a move that was refused: it may have gone on in another window
  async lookAgain() {
    const now = await api.handSession(this.session.id).catch(() => this.session);
    await this.show(now, now.hand.steps.length - 1);
  }

  async hint() {
    if (this.busy) return;
    this.busy = true;
    this.controls.element.classList.add("waiting"); // nothing can be done meanwhile
    const wait = h("p", { class: "muted" }, "The coach searches ", waitDots());
    fill(this.hintBox, panel("hint", wait));
    const slow = setTimeout(() => wait.append(h("br"), small(SLOW_HINT)), 2500);
    const isDone = await attempt(async () => {
      const { note, grade, chart } = await api.handHint(this.session.id);
      const told = (grade || chart) && small("A hand with a hint is practice: it does not count in your score.");
      const link = chartLink(grade?.chart ?? {});
      const shown = [(grade ?? chart) && gradeTable(grade ?? chart), link && small(link), note && muted(note)];
      fill(this.hintBox, panel("hint", h("h3", {}, "Hint"), shown, told));
    });
    if (isDone) this.hintBox.scrollIntoView({ block: "nearest" });
    else fill(this.hintBox);
    clearTimeout(slow);
    this.busy = false;
    this.controls.element.classList.remove("waiting");
  }

  // keys do what can be seen: nothing while cards are still coming
  onkey(event) {
    if (!this.isSettled || !isPlainKey(event)) return;
    const move = keyMove(event.key, this.session.hand, this.controls.raiseTo());
    if (move) this.move(move);
  }

  // shows a session, the steps of its hand from one on, one after the other
  async show(session, from) {
    const mine = ++this.turn;
    const { hand } = session;
    Object.assign(this, { session, isSettled: false });
    fill(this.heading, session.players > 2 ? `No-limit, ${session.players} players` : "Heads-up no-limit");
    fill(this.against, tag(this.rival.title));
    this.showStacks(session.stack / hand.big_blind);
    const last = hand.steps.length - 1;
    for (let at = Math.min(from, last); at < last; at += 1) {
      fill(this.felt, tableOf(hand, at, this.rival, { isFresh: at === 0 }));
      this.sound.play(hand.steps[at].kind);
      await pause(PAUSES[hand.steps[at + 1].kind] ?? (session.players > 2 ? 300 : 450));
      if (mine !== this.turn) return;
    }
    fill(this.felt, tableOf(hand, last, this.rival, { isFresh: last === 0 }), hand.over && this.result(hand));
    this.sound.play(hand.steps[last].kind);
    this.controls.show(hand, false);
    this.line.show(hand, this.rival.title);
    this.drawTools(hand);
    this.drawScore(session);
    this.isSettled = true;
    this.felt.dataset.ready = `hand ${hand.number}, step ${last}`;
    if (hand.over) this.felt.querySelector(".next")?.focus({ preventScroll: true });
  }

  // the same, in other units
  redraw() {
    if (!this.busy && this.session) this.show(this.session, this.session.hand.steps.length - 1);
  }

  drawTools(hand) {
    const acted = hand.steps.some(({ player }) => player === hand.seat);
    const undo = acted && button(["Take back", h("kbd", {}, "U")], () => this.move("undo"), { class: "quiet" });
    const hint = !hand.over && button(["Hint", h("kbd", {}, "H")], () => this.hint(), { class: "quiet hint-button" });
    const review = hand.over && button("Review this hand", () => this.review(), { class: "quiet review-button" });
    const practice = hand.practice && tag("practice: does not count");
    fill(this.below, h("p", { class: "row tools" }, hint, undo, review, practice));
  }

  result(hand) {
    const [kind, text] = outcome(hand);
    const parts = hand.fair === null ? "" : luckText(hand.won, hand.fair, hand.big_blind);
    const next = button(["Next hand", h("kbd", {}, "N")], () => this.move("deal"), { class: "primary next" });
    return h("div", { class: `result ${kind}` }, h("span", {}, h("b", {}, text), " ", h("small", {}, parts)), next);
  }

  async review() {
    const id = `${this.session.id}-${this.session.hand.number}`;
    const box = panel("after");
    fill(this.hintBox, box); // beside the table, so that both are seen
    const again = (step) => this.move(`undo ${step}`);
    const isDone = await attempt(async () => fill(box, reviewOfHand(await askReview(box, id), { hand: id, again })));
    if (isDone) box.scrollIntoView({ block: "nearest" });
    else fill(this.hintBox);
  }

  drawScore({ score, stack, players, hand }) {
    const draws = players > 2 ? "the cards and the others' dice" : "the cards, the agent's hand and its dice";
    const luck =
      `${LUCK} The draws are ${draws}; what they are worth is estimated (AIVAT), and told from 30 hands on. ` +
      "± is where the truth is 95 % of the time.";
    const rate = (value) => (value === null ? "–" : `${signed(rounded(value), 0)} mbb/h`);
    const fair = score.band === null ? null : score.fair; // of a few hands it would say nothing
    const band = score.band === null ? "" : ` ± ${Math.round(score.band).toLocaleString("en")}`;
    fill(
      this.score,
      h("h2", {}, "Score"),
      h(
        "dl",
        { class: "facts" },
        fact("Hands", score.hands),
        fact(unitName(), signedAmount(score.won, hand.big_blind), "won"),
        fact(AS_IT_WENT, rate(score.raw)),
        fact(WITHOUT_LUCK, rate(fair) + band, "skill"),
        fact("Luck", rate(fair === null ? null : luckOf(score.raw, [fair]))),
      ),
      small(
        `Thousandths of a big blind a hand. Everybody sits down with ${amount(stack, hand.big_blind)} at every hand. ${luck}`,
      ),
    );
  }

  help() {
    const key = (text) => h("kbd", {}, text);
    return panel(
      "key-help",
      h("h2", {}, "Keys"),
      h(
        "p",
        { class: "small muted keys" },
        [key("F"), " fold, ", key("C"), " check or call, ", key("R"), " bet or raise, "],
        [key("1"), " – ", key("6"), " sizes, ", key("H"), " hint, ", key("U"), " take back, ", key("N"), " next hand"],
      ),
    );
  }
}

// the review of a hand, with a bar in `box` while the coach searches
export function askReview(box, id) {
  const bar = waitBar("Graded");
  fill(box, h("p", { class: "muted" }, "The coach goes through the hand ", waitDots()), bar);
  return watched(
    bar,
    () => api.reviewProgress(id),
    () => api.reviewHand(id),
  );
}

function outcome({ won, big_blind: bigBlind }) {
  if (won === 0) return ["", "A split pot"];
  return won > 0 ? ["good", `You win ${amount(won, bigBlind)}`] : ["bad", `You lose ${amount(-won, bigBlind)}`];
}

// the review of a hand: the costliest decision first and open
const APART =
  "What a decision gave up is the coach's estimate. The result without luck is another estimate (AIVAT): what your seat " +
  "is worth, what you gave up and what the others gave away are all in it.";

export function reviewOfHand({ decisions, preflop = [], ungraded = [], note }, { hand, job, again }) {
  const order = [...decisions].sort((a, b) => b.given_up - a.given_up || b.behind - a.behind);
  const lost = order.reduce((sum, { given_up: given }) => sum + given, 0);
  const told = lost > 0 ? tag(`${lost.toFixed(2)} bb given up`, "warn") : tag("nothing given up", "good");
  const item = (decision, at) =>
    decisionItem(decision, { isOpen: at === 0, openSpot: () => openSpotOf({ hand, job }, decision), again });
  return [
    titleRow(h("h2", {}, "Review"), order.length > 0 && told),
    order.length === 0 && ungraded.length === 0 && muted("There is no decision of yours to grade in this hand."),
    order.map(item),
    preflop.map(chartItem),
    ungraded.length > 0 && ungradedList(ungraded),
    order.length > 0 && !job && small(APART),
    small(note),
  ];
}
