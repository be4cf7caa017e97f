// The explorer of a solved spot: the line so far, the grid, single hands, runouts, locks. Every node has its own URL.

import { api } from "../api.js";
import { actionColours, card, cards, CLASSES, RANKS, stack, SUITS } from "../cards.js";
import { chips, choices, fill, h, number, percent, precise, seconds, toast } from "../dom.js";
import { heat, makeGrid, split } from "../grid.js";
import { makeLocks } from "../locks.js";
import { makeRanges } from "../node-ranges.js";

const SIDES = ["OOP", "IP"];

export async function openExplorer(root, job, path, query) {
  const explorer = new Explorer(root, job, query);
  await explorer.go(path, query);
  return {
    leave: () => explorer.leave(),
    update: async ([id, next], values) => {
      if (id !== job.id) return false;
      await explorer.go(next ?? "r:0", values);
      return true;
    },
  };
}

class Explorer {
  constructor(root, job, query) {
    Object.assign(this, { root, job, spot: job.summary.spot });
    this.show = query.get("show") ?? "actions";
    this.chosen = -1;
    this.grid = makeGrid("Hands", { onpress: (index) => this.choose(index), onhover: (index) => this.hover(index) });
    this.line = h("nav", { class: "line", "aria-label": "The line so far" });
    this.summary = h("section", { class: "panel node-summary" });
    this.hands = h("section", { class: "panel hands" });
    this.types = h("section", { class: "panel types" });
    this.cards = h("section", { class: "panel runouts", hidden: true });
    this.caption = h("p", { class: "caption" });
    this.locks = makeLocks(job, (lockPath) => this.link(lockPath), () => this.node);
    this.ranges = makeRanges(job);
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
    this.build();
  }

  leave() {
    window.removeEventListener("keydown", this.keys);
    this.grid.leave();
    this.ranges.leave();
  }

  build() {
    const { job, spot } = this;
    const title = h("input", { class: "title-input", value: job.name, size: Math.max(6, job.name.length), maxLength: 100, "aria-label": "Name of this spot", onchange: async () => {
      try {
        await api.rename(job.id, title.value);
        toast("Saved.");
      } catch (error) {
        toast(error.message, "error");
      }
    } });
    const told = job.summary;
    this.sideChoice = h("span");
    fill(
      this.root,
      h("div", { class: "title-row" }, h("a", { class: "go-back", href: "#/solve", "aria-label": "All spots" }, "‹"), title, h("span", { class: "tag good", title: "how much a perfect opponent would win, as a share of the pot" }, `exploitability ${precise(told.exploitability)} of the pot`), h("span", { class: "tag" }, `${number(told.iterations)} iterations, ${seconds(told.seconds)}`), told.stopped && h("span", { class: "tag warn" }, "stopped early"), Object.keys(spot.lock ?? {}).map((lock) => h("a", { class: "tag warn", href: `#/solve/${job.id}/${lock}` }, `locked at ${lock}`))),
      h("p", { class: "row tools" }, h("a", { class: "button", href: `#/play/holdem/${job.id}` }, "Play this spot"), h("a", { class: "button", href: `#/solve?from=${job.id}` }, "Edit as a new spot"), h("a", { class: "button", href: `/api/solutions/${job.id}/file`, download: "" }, "Download"), h("span", { class: "muted" }, `pot ${spot.pot}, ${spot.stack} behind`)),
      this.line,
      this.cards,
      h(
        "div",
        { class: "explorer-columns" },
        h("section", { class: "panel" }, h("div", { class: "grid-head" }, this.sideChoice, choices("Show", [["actions", "Actions"], ["ev", "EV"], ["equity", "Equity"], ["range", "Range"]], this.show, (show) => this.link(null, { show }))), this.grid.element, this.caption, h("p", { class: "keys muted small" }, h("kbd", {}, "1"), " – ", h("kbd", {}, "9"), " take an action, ", h("kbd", {}, "⌫"), " goes back, arrow keys walk the grid, ", h("kbd", {}, "Enter"), " shows a class hand by hand.")),
        h("div", { class: "side" }, this.summary, this.hands, this.types, this.ranges.element, this.locks.element),
      ),
    );
  }

  link(path, values = {}) {
    const query = new URLSearchParams();
    const side = values.side ?? (path === null ? this.sideGiven : undefined);
    const show = values.show ?? this.show;
    const hand = this.picked && CLASSES[this.chosen];
    if (show !== "actions") query.set("show", show);
    if (side !== undefined && side !== null) query.set("side", side);
    if (hand) query.set("hand", hand);
    const text = query.toString();
    location.hash = `#/solve/${this.job.id}/${path ?? this.node.path}${text ? `?${text}` : ""}`;
  }

  async go(path, query) {
    this.show = query.get("show") ?? "actions";
    this.sideGiven = query.get("side");
    this.picked = CLASSES.includes(query.get("hand"));
    if (this.picked) this.chosen = CLASSES.indexOf(query.get("hand"));
    const mine = (this.turn = (this.turn ?? 0) + 1);
    const known = this.node?.path === path && this.node.values;
    if (!known) {
      this.node = await api.node(this.job.id, path, false);
      if (mine !== this.turn) return;
    }
    this.side = this.sideGiven === null ? Math.max(this.node.player, 0) : SIDES.indexOf(this.sideGiven.toUpperCase());
    if (!this.picked) this.chosen = this.mostMixed();
    this.draw();
    if (!known) {
      const full = await api.node(this.job.id, path, true);
      if (mine !== this.turn) return;
      this.node = full;
      this.draw();
    }
    this.drawHands();
    this.locks.show(this.node, CLASSES[this.chosen]);
  }

  // the class to look at when none was chosen: one that plays several actions, else the one that gets here most
  mostMixed() {
    const { weights } = this.node.players[this.side];
    const acting = this.node.player === this.side;
    let best = weights.indexOf(Math.max(...weights));
    let most = 0;
    weights.forEach((weight, index) => {
      if (weight <= 0.5 || !acting) return;
      const spread = 1 - Math.max(...this.node.policy.map((row) => row[index]));
      if (spread > most + 0.05) [best, most] = [index, spread];
    });
    return Math.max(best, 0);
  }

  onkey(event) {
    if (event.target.closest("input, textarea, select, .grid13") || event.ctrlKey || event.metaKey || event.altKey || !this.node) return;
    if (event.key === "Backspace" && this.node.line.length > 1) this.link(this.node.line.at(-2).path);
    const action = this.node.actions[Number(event.key) - 1];
    if (action) this.link(`${this.node.path}:${action.token}`);
  }

  draw() {
    const { node } = this;
    this.colours = actionColours(node.actions);
    fill(this.sideChoice, choices("Whose hands", [["oop", "OOP"], ["ip", "IP"]], SIDES[this.side].toLowerCase(), (side) => this.link(null, { side })));
    this.drawLine();
    this.drawGrid();
    this.drawSummary();
    this.drawTypes();
    this.ranges.show(this.node);
    this.drawCards();
  }

  drawLine() {
    const { node } = this;
    const steps = node.line.map((step, index) => {
      const last = index === node.line.length - 1;
      if (step.kind === "next_street") {
        return h("div", { class: `line-step chance ${last ? "here" : ""}` }, h("small", {}, "card"), step.taken ? h("button", { type: "button", class: "line-card", onclick: () => this.link(step.path), "aria-label": `choose another card than ${step.taken}` }, card(step.taken, "small")) : h("span", { class: "muted" }, "choose"));
      }
      if (step.kind !== "decision") return h("div", { class: "line-step end here" }, h("small", {}, `pot ${step.pot}`), h("b", {}, step.kind));
      const colours = actionColours(step.actions);
      const list = step.actions.map((action, at) =>
        h("button", { type: "button", class: `line-action ${step.taken === action.token ? "taken" : ""}`, onclick: () => this.link(`${step.path}:${action.token}`) }, h("i", { style: { background: colours[at] } }), action.name, last && node.actions[at] && h("em", {}, percent(node.actions[at].frequency))),
      );
      return h("div", { class: `line-step ${last ? "here" : ""}` }, h("small", {}, h("button", { type: "button", class: "link", onclick: () => this.link(step.path) }, SIDES[step.player]), ` pot ${step.pot}`), list);
    });
    fill(this.line, h("div", { class: "line-board" }, cards(node.board, "medium")), steps);
    this.line.scrollLeft = this.line.scrollWidth;
  }

  drawGrid() {
    const { node, side, show, colours } = this;
    const player = node.players[side];
    const acting = node.player === side;
    const numbers = show === "ev" ? player.evs : player.equities;
    const known = numbers.filter((value, index) => value !== null && player.weights[index] > 1e-4);
    const [low, high] = show === "equity" ? [0, 1] : [Math.min(...known), Math.max(...known)];
    this.grid.paint((index) => {
      const there = player.of_range[index];
      const dim = player.weights[index] <= 1e-4;
      const size = `100% ${Math.max(there > 1e-4 ? 12 : 0, Math.round(100 * Math.min(1, there)))}%`;
      const base = { dim, selected: index === this.chosen, size };
      if (dim) return { ...base, label: `${CLASSES[index]}, not here` };
      if (show === "range" || (show === "actions" && !acting)) return { ...base, background: "linear-gradient(var(--range), var(--range))", text: there < 0.995 ? String(Math.round(100 * there)) : "", label: `${CLASSES[index]}, ${percent(there)} of it gets here` };
      if (show === "actions") {
        const mix = node.policy.map((row) => row[index]);
        return { ...base, background: split(mix, colours), label: `${CLASSES[index]}: ${node.actions.map((action, at) => `${action.name} ${percent(mix[at])}`).join(", ")}` };
      }
      const value = numbers[index];
      if (value === null) return { ...base, label: CLASSES[index] };
      const colour = heat((value - low) / (high - low || 1));
      const text = show === "ev" ? chips(value) : String(Math.round(100 * value));
      return { ...base, size: "100% 100%", background: `linear-gradient(${colour}, ${colour})`, text, label: `${CLASSES[index]}: ${show === "ev" ? "EV" : "equity"} ${show === "ev" ? chips(value) : percent(value)}` };
    });
    this.hover(this.chosen);
  }

  hover(index) {
    if (!this.node) return;
    const player = this.node.players[this.side];
    const name = CLASSES[index];
    if (player.weights[index] <= 1e-4) {
      fill(this.caption, h("b", {}, name), " does not get here.");
      return;
    }
    const mix = this.node.player === this.side ? this.node.actions.map((action, at) => `${action.name} ${percent(this.node.policy[at][index])}`).join(" · ") : "";
    fill(this.caption, h("b", {}, name), ` ${number(player.weights[index], 3)} hands`, player.evs[index] !== null && ` · EV ${chips(player.evs[index])}`, player.equities[index] !== null && ` · equity ${percent(player.equities[index])}`, mix && h("span", { class: "mix" }, mix));
  }

  choose(index) {
    if (index === this.chosen) return;
    [this.chosen, this.picked] = [index, true];
    this.link(null);
  }

  drawSummary() {
    const { node, colours } = this;
    const who = node.kind === "decision" ? `${SIDES[node.player]} to act` : { fold: `${SIDES[node.folded]} has folded`, showdown: "Showdown", next_street: "The next card comes" }[node.kind];
    const rows = node.actions.map((action, index) =>
      h("tr", {}, h("th", {}, h("button", { type: "button", class: "link", onclick: () => this.link(`${node.path}:${action.token}`) }, h("i", { class: "dot", style: { background: colours[index] } }), action.name, h("kbd", {}, index + 1))), h("td", {}, percent(action.frequency, 1)), h("td", {}, node.values ? chips(action.ev) : "…")),
    );
    fill(
      this.summary,
      h("div", { class: "title-row" }, h("h2", {}, who), h("span", { class: "tag" }, `pot ${node.pot}`)),
      rows.length > 0 && [stack(node.actions.map((action) => action.frequency ?? 0), colours), h("table", { class: "actions-table" }, h("thead", {}, h("tr", {}, h("th", {}, "Action"), h("th", {}, "How often"), h("th", {}, "EV when taken"))), h("tbody", {}, rows))],
      h("table", { class: "players" }, h("thead", {}, h("tr", {}, h("th", {}, ""), h("th", {}, "Hands"), h("th", {}, "Equity"), h("th", {}, "EV"))), h("tbody", {}, node.players.map((player, side) => h("tr", {}, h("th", {}, SIDES[side]), h("td", {}, number(player.num_hands, 4)), h("td", {}, percent(player.equity, 1)), h("td", {}, node.values ? chips(player.ev, 4) : "…"))))),
    );
  }

  // the range by what its hands are on this board
  drawTypes() {
    const { node, side, colours } = this;
    const acting = node.player === side;
    const row = (type) => h("tr", {}, h("th", {}, type.name), acting && h("td", { class: "bar" }, stack(type.policy, colours, type.policy.map((share, at) => `${node.actions[at].name} ${percent(share)}`).join(", "))), h("td", {}, percent(type.share, 1)), h("td", {}, percent(type.equity)));
    const head = (title) => h("thead", {}, h("tr", {}, h("th", {}, title), acting && h("th", { class: "bar" }, "Policy"), h("th", {}, "Of range"), h("th", {}, "Equity")));
    const { types } = node.players[side];
    const table = (title, kind) => types.some((type) => type.kind === kind) && h("table", {}, head(title), h("tbody", {}, types.filter((type) => type.kind === kind).map(row)));
    fill(this.types, h("div", { class: "title-row" }, h("h2", {}, "By type of hand"), h("span", { class: "tag" }, SIDES[side])), table("Made hand", "made"), table("Draw", "draw"));
  }

  async drawHands() {
    const { node, side, colours } = this;
    const name = CLASSES[this.chosen];
    const mine = (this.handTurn = (this.handTurn ?? 0) + 1);
    const found = await api.hands(this.job.id, node.path, name, side);
    if (mine !== this.handTurn) return;
    const acting = node.player === side;
    const rows = found.hands.map((one) =>
      h("tr", {}, h("th", {}, cards(one.hand, "tiny"), acting && stack(one.policy, colours, one.policy.map((share, at) => `${node.actions[at].name} ${percent(share)}`).join(", "))), acting && one.policy.map((share, at) => actionCell(one, share, at)), h("td", {}, chips(one.ev)), h("td", {}, percent(one.equity))),
    );
    const heads = acting ? node.actions.map((action, at) => h("th", {}, h("i", { class: "dot", style: { background: colours[at] } }), action.name)) : [];
    fill(
      this.hands,
      h("div", { class: "title-row" }, h("h2", {}, `${name}, hand by hand`), h("span", { class: "tag" }, SIDES[side])),
      rows.length ? [h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, ""), heads, h("th", {}, "EV"), h("th", {}, "Equity"))), h("tbody", {}, rows)), acting && h("p", { class: "muted small" }, "How often each action is taken, and what it is worth; green is the best.")] : h("p", { class: "muted" }, `No hand of ${name} gets here. Choose another class in the grid.`),
    );
  }

  drawCards() {
    const { node } = this;
    this.cards.hidden = node.kind !== "next_street";
    if (this.cards.hidden) return;
    const dealt = new Set(node.board.split(" "));
    const deck = h("div", { class: "deck", role: "group", "aria-label": "The next card" });
    for (const suit of Object.keys(SUITS))
      for (const rank of RANKS) {
        const one = rank + suit;
        deck.append(h("button", { type: "button", class: `key suit-${suit}`, disabled: dealt.has(one), dataset: { card: one }, "aria-label": one, onclick: () => this.link(`${node.path}:${one}`) }, rank === "T" ? "10" : rank, h("i", {}, SUITS[suit])));
      }
    const table = h("div", { class: "runout-table" });
    const load = h("button", { type: "button", onclick: async () => {
      load.disabled = true;
      load.textContent = "Working it out …";
      try {
        this.drawRunouts(table, await api.runouts(this.job.id, node.path));
        load.remove();
      } catch (error) {
        toast(error.message, "error");
        load.disabled = false;
      }
    } }, "Compare all cards");
    fill(this.cards, h("h2", {}, "Choose the next card"), deck, load, table);
  }

  drawRunouts(box, found) {
    const colours = actionColours(found.actions);
    const sorts = { card: (row) => -RANKS.indexOf(row.card[0]), equity: (row) => row.equities[0], ev: (row) => row.evs[0] ?? 0 };
    const draw = (by) => {
      const rows = [...found.cards].sort((a, b) => sorts[by](b) - sorts[by](a)).map((row) =>
        h("tr", {}, h("th", {}, h("button", { type: "button", class: "link", onclick: () => this.link(`${found.path}:${row.card}`) }, card(row.card, "tiny"))), found.player >= 0 && h("td", { class: "bar" }, stack(row.frequencies.map((share) => share ?? 0), colours, row.frequencies.map((share, at) => `${found.actions[at].name} ${percent(share)}`).join(", "))), h("td", {}, percent(row.equities[0], 1)), h("td", {}, chips(row.evs[0], 4)), h("td", {}, chips(row.evs[1], 4))),
      );
      const head = (key, text) => h("th", {}, h("button", { type: "button", class: "link", onclick: () => draw(key) }, text, by === key && " ↓"));
      fill(
        box,
        found.player >= 0 && h("p", { class: "legend" }, `${SIDES[found.player]}: `, found.actions.map((action, at) => h("span", {}, h("i", { style: { background: colours[at] } }), action.name))),
        h("table", {}, h("thead", {}, h("tr", {}, head("card", "Card"), found.player >= 0 && h("th", { class: "bar" }, "What follows"), head("equity", "Equity OOP"), head("ev", "EV OOP"), h("th", {}, "EV IP"))), h("tbody", {}, rows)),
      );
    };
    draw("card");
  }
}

// an action of one hand: how often, and its EV
function actionCell(one, share, at) {
  const value = one.action_evs[at];
  const best = Math.max(...one.action_evs);
  const near = value !== undefined && value >= best - 1e-3 * Math.max(1, Math.abs(best));
  return h("td", { class: `action ${share < 0.005 ? "never" : ""}` }, percent(share), value !== undefined && h("small", { class: near ? "best" : "" }, chips(value)));
}
