// A table at which deals are played against an agent.

import { api } from "../api.js";
import { attempt, button, choices, fill, h, isPlainKey, muted, tag, titleRow } from "../dom.js";
import { actions, middle, result, seat } from "./felt.js";
import { review } from "./review.js";
import { rules } from "./rules.js";
import { makeScore } from "./score.js";

const SLOW = "The first time, kernels are compiled and an equilibrium is solved: up to half a minute.";
const LETTERS = { f: "fold", c: "call", l: "challenge" };

export class PlayTable {
  constructor(catalogue, game, solution, opponent) {
    Object.assign(this, { game, solution, ...describeGame(catalogue, game, solution) });
    this.opponents = catalogue.opponents.filter((agent) => plays(agent, game));
    this.asked = this.opponents.find((agent) => agent.name === opponent)?.name; // by the address
    this.opponent = this.asked ?? this.opponents[0]?.name ?? "equilibrium";
    this.remembered = `session ${game}${solution ?? ""}`;
    this.board = h("section", { class: "felt", "aria-label": "The table" });
    this.after = h("section", { class: "after" });
    this.score = makeScore();
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
  }

  leave() {
    window.removeEventListener("keydown", this.keys);
    this.score.leave();
  }

  async open(root) {
    this.session = await this.recall();
    this.opponent = this.session?.opponent ?? this.opponent;
    const back = h("a", { class: "go-back", href: "#/play", "aria-label": "All games" }, "‹");
    const again = button("Start over", () => this.begin(this.opponent), { class: "quiet" });
    const table = h("div", {}, this.board, this.after);
    const side = h("div", {}, this.score.element, rules(this.game, this.faces));
    fill(
      root,
      titleRow(back, h("h1", {}, this.title), this.opponentChoice(), again),
      this.note && muted(this.note),
      h("div", { class: "play-columns" }, table, side),
    );
    if (this.session) this.show(this.session);
    else await this.begin(this.opponent);
  }

  // the session that was played here last; none if it is gone, or was against somebody else than the address asks for
  async recall() {
    const id = localStorage.getItem(this.remembered);
    const session = id && (await api.session(id).catch(() => null));
    return session && (!this.asked || session.opponent === this.asked) ? session : null;
  }

  opponentChoice() {
    const { opponents } = this;
    if (opponents.length < 2) return tag(`against ${opponents[0]?.title ?? "an equilibrium"}`);
    const named = opponents.map((agent) => [agent.name, agent.title]);
    return choices("Opponent", named, this.opponent, (name) => this.begin(name));
  }

  async begin(opponent) {
    this.opponent = opponent;
    const wait = h("p", { class: "wait" }, "Setting up the table …");
    fill(this.board, wait);
    fill(this.after);
    const slow = setTimeout(() => wait.append(h("br"), h("small", {}, SLOW)), 2500);
    try {
      const session = await api.newSession({ game: this.game, opponent, solution: this.solution ?? null });
      localStorage.setItem(this.remembered, session.id);
      this.show(session);
    } catch (error) {
      const again = button("Try again", () => this.begin(opponent));
      fill(this.board, h("p", { class: "wait" }, error.message), h("p", { class: "actions" }, again));
    } finally {
      clearTimeout(slow);
    }
  }

  async move(label) {
    if (this.busy) return;
    this.busy = true;
    const slow = setTimeout(() => this.board.classList.add("thinking"), 250);
    await attempt(async () => this.show(await api.move(this.session.id, label)));
    clearTimeout(slow);
    this.board.classList.remove("thinking");
    this.busy = false;
  }

  onkey(event) {
    if (!this.session || !isPlainKey(event)) return;
    const move = moveOfKey(event.key, this.session.deal, this.faces);
    if (move) this.move(move);
  }

  show(session) {
    const { deal } = session;
    this.session = session;
    this.opponent = session.opponent;
    const dice = diceOf(session);
    const kind = { game: this.game, faces: this.faces, count: dice[1] };
    const focused = this.board.contains(document.activeElement); // by who plays with keys: the next move is at hand
    const onmove = (label) => this.move(label);
    const below = deal.over
      ? result(deal.won, session, () => this.move("deal"))
      : actions(this.faces, deal, onmove, dice[0] + dice[1]);
    fill(this.board, seat(kind, "agent", deal), middle(kind, deal), seat(kind, "you", deal), below);
    const { note } = this.opponents.find((agent) => agent.name === session.opponent) ?? {};
    fill(this.after, deal.over && review(session, this.faces, note));
    this.score.show(session);
    const next = this.board.querySelector(".next, .bid:not(:disabled), .act:not(:disabled)");
    if (deal.over || focused) next?.focus({ preventScroll: true });
  }
}

// the title of a game or a spot, how many faces its dice have, if it has dice, and what there is to say about it
function describeGame(catalogue, game, solution) {
  const info = catalogue.games.find((one) => one.name === game);
  const spot = catalogue.spots.find((job) => job.id === solution);
  const faces = info?.family === "dice" ? Number(game.slice(-1)) : 0;
  return { title: info?.title ?? spot?.name ?? "Hold'em", faces, note: info?.note };
}

// how many dice you and the agent roll in this deal
export function diceOf({ deal, match }) {
  if (!match) return [deal.hand.length, deal.hand.length];
  const counts = match.playing.match(/:(\d+)(?:\+(\d+))?x/);
  const inOrder = [Number(counts[1]), Number(counts[2] ?? counts[1])];
  return deal.seat === 0 ? inOrder : inOrder.reverse();
}

function plays(agent, game) {
  return agent.games.includes(game) || (game === "holdem" && agent.name === "equilibrium");
}

// the move that a key stands for: a letter for its kind, a number for its place; null if there is none
export function moveOfKey(key, { over, options }, faces) {
  if (over) return key === "n" || key === "N" ? "deal" : null;
  const numbered = faces ? undefined : options[Number(key) - 1];
  return (options.find((option) => option.kind === LETTERS[key]) ?? numbered)?.label ?? null;
}
