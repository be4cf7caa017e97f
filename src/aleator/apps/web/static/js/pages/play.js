// Play: choose a game, play deals, see afterwards what the agent believed and what was given up.

import { api, watchJob } from "../api.js";
import { card, cards, dice, die } from "../cards.js";
import { makeChart } from "../chart.js";
import { choices, fill, h, number, signed, toast } from "../dom.js";
import { review } from "./review.js";

const remembered = (game) => `session ${game}`;

export async function render(root, [game, solution], query) {
  if (!game) {
    const [catalogue, presets] = await Promise.all([api.playCatalogue(), api.presets()]);
    let unwatch = () => {};
    fill(root, h("h1", {}, "Play"), lobby(catalogue, presets, (stop) => (unwatch = stop)));
    return { leave: () => unwatch() };
  }
  const catalogue = await api.playCatalogue();
  const table = new PlayTable(root, catalogue, game, solution, query.get("opponent"));
  await table.open();
  return { leave: () => table.leave() };
}

function lobby(catalogue, presets, onwatch) {
  const art = {
    dice: (name) => dice(name.endsWith("2x3") ? "23" : name.slice(-1), Number(name.slice(-1)), "medium"),
    cards: (name) => h("span", { class: "cards" }, card("K", "medium"), card(name === "kuhn" ? null : "J", "medium")),
  };
  const tiles = catalogue.games.map((game) => h("a", { class: "tile game", href: `#/play/${game.name}` }, h("div", { class: "tile-art" }, art[game.family](game.name)), h("h2", {}, game.title), h("p", {}, game.summary)));
  const solved = catalogue.spots.map((job) => h("a", { class: "tile game", href: `#/play/holdem/${job.id}` }, h("div", { class: "tile-art" }, cards(job.summary.spot.board, "small")), h("h2", {}, job.name), h("p", {}, `Hold'em, pot ${job.summary.spot.pot}, ${job.summary.spot.stack} behind`)));
  return [
    h("p", { class: "lead" }, "Against an equilibrium you cannot win in the long run, only learn. After each deal you see the agent's beliefs, its policy, and what each of your decisions was worth."),
    h("section", { class: "tiles" }, tiles),
    h("h2", {}, "Hold'em spots"),
    h("p", { class: "muted" }, "Any spot you have solved can be played; these are solved when you choose them. ", h("a", { href: "#/solve" }, "Solve a spot of your own")),
    h("section", { class: "tiles" }, solved, presets.filter((preset) => isQuick(preset, catalogue)).map((preset) => presetTile(preset, onwatch))),
  ];
}

// presets that are solved in a second or two, and are not among the solved spots yet
const isQuick = ({ name, spot }, { spots }) => spot.board.length >= 11 && name !== "Turn endgame" && !spots.some((job) => job.name === name);

function presetTile({ name, summary, spot }, onwatch) {
  const state = h("p", {}, `Hold'em, pot ${spot.pot}, ${spot.stack} behind`);
  const tile = h("button", { type: "button", class: "tile game", title: summary, onclick: async () => {
    tile.disabled = true;
    state.textContent = "Solving it first …";
    try {
      const job = await api.solve({ name, spot, threads: 1, bits: 32 });
      onwatch(watchJob(job.id, () => {}, (ended) => {
        if (ended.status === "done") location.hash = `#/play/holdem/${job.id}`;
        else {
          state.textContent = ended.error ?? "Cancelled.";
          tile.disabled = false;
        }
      }));
    } catch (error) {
      toast(error.message, "error");
      tile.disabled = false;
    }
  } }, h("div", { class: "tile-art" }, cards(spot.board, "small")), h("h2", {}, name), state);
  return tile;
}

class PlayTable {
  constructor(root, catalogue, game, solution, opponent) {
    Object.assign(this, { root, catalogue, game, solution });
    this.info = catalogue.games.find((one) => one.name === game);
    const spot = catalogue.spots.find((job) => job.id === solution);
    this.title = this.info?.title ?? spot?.name ?? "Hold'em";
    this.faces = this.info?.family === "dice" ? Number(game.slice(-1)) : 0;
    this.opponents = catalogue.opponents.filter((agent) => agent.games.includes(game) || (game === "holdem" && agent.name === "equilibrium"));
    this.asked = this.opponents.find((agent) => agent.name === opponent)?.name; // by the address
    this.opponent = this.asked ?? this.opponents[0]?.name ?? "equilibrium";
    this.board = h("section", { class: "felt", "aria-label": "The table" });
    this.after = h("section", { class: "after" });
    this.score = h("section", { class: "panel score", "aria-label": "Score" });
    this.chart = makeChart({ label: "Score over deals, with and without luck", xLabel: "deals", yLabel: "", height: 190 });
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
  }

  leave() {
    window.removeEventListener("keydown", this.keys);
    this.chart.leave();
  }

  async open() {
    const known = localStorage.getItem(remembered(this.game + (this.solution ?? "")));
    try {
      this.session = known && (await api.session(known));
      if (this.asked && this.session?.opponent !== this.asked) this.session = null; // a game against somebody else
      this.opponent = this.session?.opponent ?? this.opponent;
    } catch {
      this.session = null; // it is gone: begin a new one
    }
    const agents = this.opponents.length > 1 ? choices("Opponent", this.opponents.map((agent) => [agent.name, agent.title]), this.opponent, (name) => this.begin(name)) : h("span", { class: "tag" }, `against ${this.opponents[0]?.title ?? "an equilibrium"}`);
    fill(
      this.root,
      h("div", { class: "title-row" }, h("a", { class: "go-back", href: "#/play", "aria-label": "All games" }, "‹"), h("h1", {}, this.title), agents, h("button", { type: "button", class: "quiet", onclick: () => this.begin(this.opponent) }, "Start over")),
      h("div", { class: "play-columns" }, h("div", {}, this.board, this.after), h("div", {}, this.score, rules(this.game, this.faces))),
    );
    if (this.session) this.show(this.session);
    else await this.begin(this.opponent);
  }

  async begin(opponent) {
    this.opponent = opponent;
    const wait = h("p", { class: "wait" }, "Setting up the table …");
    fill(this.board, wait);
    fill(this.after);
    const slow = setTimeout(() => wait.append(h("br"), h("small", {}, "The first time, kernels are compiled and an equilibrium is solved: up to half a minute.")), 2500);
    try {
      const session = await api.newSession({ game: this.game, opponent, solution: this.solution ?? null });
      localStorage.setItem(remembered(this.game + (this.solution ?? "")), session.id);
      this.show(session);
    } catch (error) {
      fill(this.board, h("p", { class: "wait" }, error.message), h("p", { class: "actions" }, h("button", { type: "button", onclick: () => this.begin(opponent) }, "Try again")));
    } finally {
      clearTimeout(slow);
    }
  }

  async move(label) {
    if (this.busy) return;
    this.busy = true;
    const slow = setTimeout(() => this.board.classList.add("thinking"), 250);
    try {
      this.show(await api.move(this.session.id, label));
    } catch (error) {
      toast(error.message, "error");
    } finally {
      clearTimeout(slow);
      this.board.classList.remove("thinking");
      this.busy = false;
    }
  }

  onkey(event) {
    if (event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey || !this.session) return;
    const { over, options } = this.session.deal;
    if (over && (event.key === "n" || event.key === "N")) this.move("deal");
    const letters = { f: "fold", c: "call", l: "challenge" };
    const found = !over && (options.find((option) => option.kind === letters[event.key]) ?? (this.faces ? null : options[Number(event.key) - 1]));
    if (found) this.move(found.label);
  }

  show(session) {
    this.session = session;
    const { deal } = session;
    this.opponent = session.opponent;
    const focused = this.board.contains(document.activeElement); // by who plays with keys: the next move is at hand
    fill(this.board, this.seat("agent", deal), this.middle(deal), this.seat("you", deal), deal.over ? this.result(deal) : this.actions(deal));
    fill(this.after, deal.over && review(session, { faces: this.faces, hand: (text) => this.hand(text, "small") }));
    this.showScore();
    if (deal.over || focused) this.board.querySelector(".next, .bid:not(:disabled), .act:not(:disabled)")?.focus({ preventScroll: true });
  }

  hand(text, size) {
    if (this.faces) return text ? dice(text, this.faces, size) : h("span", { class: "dice" }, [...this.session.deal.hand].map(() => die(null, { size })));
    if (this.game === "holdem") return text ? cards(text, size) : h("span", { class: "cards" }, card(null, size), card(null, size));
    return h("span", { class: "cards" }, card(text, size));
  }

  seat(who, deal) {
    const mine = who === "you";
    const text = mine ? deal.hand : deal.agent_hand;
    const turn = !deal.over && mine;
    const first = mine ? deal.seat === 0 : deal.seat === 1;
    const chips = deal.scene.chips?.[mine ? deal.seat : 1 - deal.seat];
    return h("div", { class: `seat ${who} ${turn ? "turn" : ""}` }, h("div", { class: "who" }, h("b", {}, mine ? "You" : "Agent"), h("small", {}, first ? "acts first" : "acts second", chips ? `, ${chips} in` : "")), this.hand(text, "big"));
  }

  middle(deal) {
    const said = deal.steps.filter((step) => step.who !== "deal").map((step) => {
      if (step.who === "chance") return h("li", { class: "chance" }, card(step.label, "small"));
      const option = step.options[step.taken];
      return h("li", { class: step.who }, this.faces ? bid(option, this.faces) : option.name);
    });
    const { board, pot } = deal.scene;
    return h(
      "div",
      { class: "middle" },
      board && h("div", { class: "board" }, this.game === "holdem" ? cards(board, "big") : card(board, "big")),
      pot !== undefined && h("p", { class: "pot" }, `Pot ${number(pot)}`),
      h("ol", { class: "said", "aria-label": "Moves so far" }, said.length ? said : h("li", { class: "none" }, deal.seat === 0 ? "You begin." : "The agent begins.")),
    );
  }

  actions(deal) {
    if (!this.faces) {
      const buttons = deal.options.map((option, index) => h("button", { type: "button", class: `act ${option.kind}`, onclick: () => this.move(option.label), dataset: { label: option.label } }, option.name, h("kbd", {}, index + 1)));
      return h("div", { class: "actions" }, buttons);
    }
    const bids = new Map(deal.options.map((option) => [option.label, option]));
    const liar = bids.get("liar");
    const most = 2 * deal.hand.length;
    const rows = [];
    for (let quantity = 1; quantity <= most; quantity += 1)
      for (let face = 1; face <= this.faces; face += 1) {
        const option = bids.get(`${quantity}x${face}`);
        rows.push(
          h("button", { type: "button", class: "bid", disabled: !option, onclick: () => this.move(option.label), dataset: { label: `${quantity}x${face}` }, "aria-label": `bid ${quantity} of face ${face}` }, h("b", {}, `${quantity}×`), die(face, { wild: face === this.faces })),
        );
      }
    const table = h("div", { class: "bids", style: { "--faces": String(this.faces) } }, rows);
    return h("div", { class: "actions dice-actions" }, table, h("button", { type: "button", class: "act challenge", disabled: !liar, onclick: () => this.move("liar"), dataset: { label: "liar" } }, "Liar!", h("kbd", {}, "L")));
  }

  result(deal) {
    const { won } = deal;
    const size = number(Math.abs(won));
    const amount = `${size} ${size === "1" ? this.session.unit.slice(0, -1) : this.session.unit}`;
    const text = won > 0 ? `You win ${amount}` : won < 0 ? `You lose ${amount}` : "A tie";
    return h(
      "div",
      { class: `result ${won > 0 ? "good" : won < 0 ? "bad" : ""}` },
      h("b", {}, text),
      h("button", { type: "button", class: "primary next", onclick: () => this.move("deal") }, "Next deal", h("kbd", {}, "N")),
    );
  }

  showScore() {
    const { totals, results, unit } = this.session;
    const deals = totals.deals;
    const each = (value) => (deals ? signed(value / deals, unit === "chips" ? 1 : 3) : "–");
    const line = (at) => results.reduce((points, row, index) => [...points, [index + 1, points[index][1] + row[at]]], [[0, 0]]);
    this.chart.set({
      series: [
        { name: "as it went", colour: "var(--series-2)", points: line(0) },
        { name: "luck removed", colour: "var(--series-1)", points: line(1) },
      ],
    });
    fill(
      this.score,
      h("h2", {}, "Score"),
      h(
        "dl",
        { class: "facts" },
        h("div", {}, h("dt", {}, "Deals"), h("dd", {}, deals)),
        h("div", {}, h("dt", {}, "Won"), h("dd", { class: "won" }, signed(totals.won, totals.won % 1 ? 1 : 0))),
        h("div", {}, h("dt", {}, "Luck removed"), h("dd", { class: "skill" }, signed(totals.skill, unit === "chips" ? 1 : 2))),
        h("div", {}, h("dt", {}, "Luck"), h("dd", {}, signed(totals.won - totals.skill, unit === "chips" ? 1 : 2))),
        h("div", {}, h("dt", {}, "Given up, per deal"), h("dd", {}, deals ? number(totals.given_up / deals, 2) : "–")),
        h("div", {}, h("dt", {}, "Luck removed, per deal"), h("dd", {}, each(totals.skill))),
      ),
      deals > 0 && this.chart.element,
      h("p", { class: "muted small" }, "Luck removed: what your seat is worth, less what your decisions gave up; lucky cards and lucky calls cancel out. It shows after a few deals what the score shows after hundreds. Over many deals both lines agree."),
    );
  }
}

export function bid(option, faces) {
  if (option.label === "liar") return h("b", { class: "liar" }, "Liar!");
  const [quantity, face] = option.label.split("x").map(Number);
  return h("span", { class: "said-bid" }, `${quantity}×`, die(face, { wild: face === faces }));
}

function rules(game, faces) {
  const text = {
    dice: [`Each player rolls in secret. Bids say how many dice of both players show a face at least; ${faces}s are wild and count as any face.`, "Each bid must be higher than the last: a higher face, or more dice. Instead of bidding you may call the last bid a lie; then all dice are shown, and who was wrong loses a point."],
    kuhn: ["Three cards: jack, queen, king. Each antes 1 and gets one card. One bet of 1 can be made; the higher card wins."],
    leduc: ["Six cards: two jacks, two queens, two kings. Each antes 1 and gets one card. After a round of betting (bets of 2) a card is shown, and a second round follows (bets of 4). A pair with the card on the table beats everything."],
    holdem: ["A spot of no-limit hold'em with the ranges it was solved for. Winnings are counted less half of the pot at the start, so that they are zero on average if the spot is even."],
  }[faces ? "dice" : game] ?? [];
  return h("details", { class: "panel rules", open: innerWidth > 900 }, h("summary", {}, "Rules"), text.map((line) => h("p", {}, line)));
}
