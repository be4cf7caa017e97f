// The explorer of a solved spot: the line so far, the grid, single hands, runouts, locks. Every node has its own URL.

import { api } from "../api.js";
import { actionColours, CLASSES } from "../cards.js";
import { attempt, choices, fill, h, isPlainKey, tag } from "../dom.js";
import { makeGrid } from "../grid.js";
import { SIDES } from "../spot.js";
import { amount, unitChoice } from "../units.js";
import { waitDots } from "../waiting.js";
import { FROM, handsFrom, handsInUnit, keepFrom, nodeFrom, nodeInUnit, readFrom } from "./evs.js";
import { caption, describeCells } from "./grid-view.js";
import { handsPanel } from "./hands.js";
import { explorerHead, keyHelp, SHOWN } from "./head.js";
import { lineSteps } from "./line.js";
import { makeLocks } from "./locks.js";
import { makeRanges } from "./node-ranges.js";
import { cardsPanel } from "./runouts.js";
import { summaryPanel, typesPanel } from "./summary.js";

const OWNERS = [
  ["oop", "OOP"],
  ["ip", "IP"],
];

const reading = () => h("p", { class: "wait", role: "status" }, "Reading the solution ", waitDots());

export async function openExplorer(root, job, path, query) {
  const explorer = new Explorer(job, query);
  explorer.build(root);
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

// the class to look at when none was chosen: one that plays several actions, else the one that gets here most
export function mostMixed(node, side) {
  const { weights } = node.players[side];
  const spread = (index) => 1 - Math.max(...node.policy.map((row) => row[index]));
  let [best, most] = [weights.indexOf(Math.max(...weights)), 0];
  const played = node.player === side ? weights.map((_, index) => index).filter((index) => weights[index] > 0.5) : [];
  for (const index of played) if (spread(index) > most + 0.05) [best, most] = [index, spread(index)];
  return Math.max(best, 0);
}

class Explorer {
  constructor(job, query) {
    Object.assign(this, {
      job,
      bigBlind: job.summary.spot.min_bet ?? 1,
      chosen: -1,
      turn: 0,
      handTurn: 0,
      show: query.get("show") ?? "actions",
      from: readFrom(),
    });
    const onpress = (index) => this.choose(index);
    this.grid = makeGrid("Hands", { onpress, onhover: (index) => this.hover(index) });
    this.line = h("nav", { class: "line", "aria-label": "The line so far" });
    this.summary = h("section", { class: "panel node-summary" });
    this.hands = h("section", { class: "panel hands" });
    this.types = h("section", { class: "panel types" });
    this.cards = h("section", { class: "panel runouts", hidden: true });
    this.caption = h("p", { class: "caption" });
    this.sideChoice = h("span");
    this.stakes = tag("");
    this.locks = makeLocks(job, (path) => this.link(path));
    this.ranges = makeRanges(job);
    this.keys = (event) => this.onkey(event);
    window.addEventListener("keydown", this.keys);
  }

  leave() {
    window.removeEventListener("keydown", this.keys);
    this.grid.leave();
    this.ranges.leave();
  }

  build(root) {
    const shown = choices("Show", SHOWN, this.show, (show) => this.link(null, { show }));
    const from = choices("EVs count", FROM, this.from, (next) => this.countFrom(next));
    const gridHead = h("div", { class: "grid-head" }, this.sideChoice, shown);
    const unit = unitChoice(() => this.redraw());
    const units = h("div", { class: "row grid-foot" }, from, unit);
    const grid = h("section", { class: "panel" }, gridHead, this.grid.element, this.caption, units, keyHelp());
    const side = [this.cards, this.summary, this.hands, this.types, this.ranges.element, this.locks.element];
    const columns = h("div", { class: "explorer-columns" }, grid, h("div", { class: "side" }, side));
    fill(root, explorerHead(this.job, this.stakes), this.line, columns);
  }

  // goes to another node (null: stays), or shows it in another way
  link(path, { show = this.show, side = path === null ? this.sideGiven : null } = {}) {
    const query = new URLSearchParams();
    if (show !== "actions") query.set("show", show);
    if (side) query.set("side", side);
    if (this.picked) query.set("hand", CLASSES[this.chosen]);
    const text = query.toString();
    location.hash = `#/solve/${this.job.id}/${path ?? this.node.path}${text && `?${text}`}`;
  }

  async go(path, query) {
    const mine = ++this.turn;
    const known = this.node?.path === path && this.node.values;
    if (!this.node) fill(this.summary, reading());
    const node = known ? this.node : await api.node(this.job.id, path, false);
    if (mine !== this.turn) return;
    this.take(query, node);
    this.draw();
    if (!known) {
      const full = await api.node(this.job.id, path, true);
      if (mine !== this.turn) return;
      this.node = full;
      this.draw();
    }
    this.drawHands();
    this.locks.show(this.view.node, CLASSES[this.chosen]);
  }

  // a node, and from the address what is shown of it
  take(query, node) {
    const [side, hand] = [query.get("side"), CLASSES.indexOf(query.get("hand"))];
    this.node = node;
    this.show = query.get("show") ?? "actions";
    this.sideGiven = side;
    this.side = side === null ? Math.max(node.player, 0) : SIDES.indexOf(side.toUpperCase());
    this.picked = hand >= 0;
    this.chosen = this.picked ? hand : mostMixed(node, this.side);
  }

  countFrom(from) {
    keepFrom(from);
    this.from = from;
    this.redraw();
  }

  redraw() {
    this.draw();
    this.drawHands();
  }

  onkey(event) {
    if (!this.node || !isPlainKey(event, "input, textarea, select, .grid13")) return;
    if (event.key === "Backspace" && this.node.line.length > 1) this.link(this.node.line.at(-2).path);
    const action = this.node.actions[Number(event.key) - 1];
    if (action) this.link(`${this.node.path}:${action.token}`);
  }

  // what the parts of the page need to draw a node
  get view() {
    const { side, show, chosen, from } = this;
    const node = nodeInUnit(nodeFrom(this.node, from), this.bigBlind);
    const acting = node.player === side;
    return {
      node,
      from,
      bigBlind: this.bigBlind,
      side,
      show,
      chosen,
      acting,
      colours: actionColours(node.actions),
      go: (path) => this.link(path),
    };
  }

  draw() {
    const { view } = this;
    const name = SIDES[this.side].toLowerCase();
    fill(
      this.sideChoice,
      choices("Whose hands", OWNERS, name, (side) => this.link(null, { side })),
    );
    const [pot, behind] = ["pot", "stack"].map((key) => amount(this.job.summary.spot[key], this.bigBlind));
    fill(this.stakes, `pot ${pot}, ${behind} behind`);
    fill(this.line, lineSteps(view));
    this.line.scrollLeft = this.line.scrollWidth;
    this.grid.paint(describeCells(view));
    this.hover(this.chosen);
    fill(this.summary, summaryPanel(view));
    fill(this.types, typesPanel(view));
    this.ranges.show(view.node);
    this.cards.hidden = this.node.kind !== "next_street";
    if (!this.cards.hidden) fill(this.cards, cardsPanel(this.job, view));
  }

  hover(index) {
    if (this.node) fill(this.caption, caption(this.view, index));
  }

  choose(index) {
    if (index === this.chosen) return;
    [this.chosen, this.picked] = [index, true];
    this.link(null);
  }

  drawHands() {
    const mine = ++this.handTurn;
    const { node, side, chosen } = this;
    return attempt(async () => {
      const found = await api.hands(this.job.id, node.path, CLASSES[chosen], side);
      if (mine === this.handTurn) this.fillHands(handsFrom(found, node, this.from));
    });
  }

  fillHands(found) {
    fill(this.hands, handsPanel(this.view, handsInUnit(found, this.bigBlind)));
  }
}
