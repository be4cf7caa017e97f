// Preflop: charts of the betting before the flop, solved heads-up or of a blueprint; a line that ends in a flop for two
// becomes a spot; #/preflop/STACK/PATH, #/preflop/blueprint-1/PATH.

import { api } from "../api.js";
import { CLASSES, actionColours } from "../cards.js";
import { attempt, button, choices, dot, fact, fill, h, panel, small, table, titleRow, toast } from "../dom.js";
import { mixText, percent } from "../format.js";
import { makeGrid, split } from "../grid.js";
import { CHART_STACKS } from "../hands/grades.js";
import { openSpot } from "../hands/spots.js";
import { makeFlopRanges } from "../reports/flop-ranges.js";
import { solveTabs } from "../solve/tabs.js";
import { amount, inWords, unitChoice } from "../units.js";
import { waitBar, watched } from "../waiting.js";

const LEAD =
  "What to do before the flop. Take actions to walk down a line; a line that ends in a flop for two becomes a spot.";
const SOLVED =
  "All lines of a few raise sizes are solved at once, with a value network that has seen all flops at the end of the betting: " +
  "an equilibrium of this round, as exact as the network's values.";
const OF_BLUEPRINT =
  "What the blueprint plays on average: the policy of the whole game that it was trained to, by sampled deals and with hands " +
  "that look alike taken together. It is a rough guide. Where a pot has been raised twice it has seen few deals, and it calls " +
  "with hands that many players would raise again.";
const SOLVES = "Solving … Only the first time for these stacks, for up to a minute.";
const READS = "Reading the blueprint …";
const LEAST = 1e-3; // of a class that is shown
const BLUEPRINT = "blueprint-";

// what the first part of the address stands for: a blueprint by its number or its title, or stacks
export function chartsOf(name, blueprints = []) {
  const number = name?.startsWith(BLUEPRINT)
    ? Number(name.slice(BLUEPRINT.length))
    : blueprints.find(({ title }) => title === name)?.number;
  return number > 0 ? { blueprint: number } : { stack: Number(name) || 100 };
}

const nameOf = ({ blueprint, stack }) => (blueprint ? `${BLUEPRINT}${blueprint}` : String(stack));

export async function render(root, [name, path]) {
  const blueprints = await api.preflopBlueprints();
  const view = new PreflopView(root, chartsOf(name, blueprints), blueprints);
  await view.show(path ?? "r:0");
  return {
    leave: () => view.leave(),
    update: async ([nextName, nextPath]) => {
      if (nameOf(chartsOf(nextName, blueprints)) !== nameOf(view.charts)) return false;
      await view.show(nextPath ?? "r:0");
      return true;
    },
  };
}

// charts of each pair of positions, as a table: who opens is a row, who faces it a column
function pairTable({ positions, pairs, node }, link) {
  const acting = [...new Set(pairs.map(({ opener }) => opener))];
  const facing = positions.filter((name) => pairs.some(({ position }) => position === name));
  const order = [...acting, ...facing].filter((name, at, all) => all.indexOf(name) === at);
  const columns = order.filter((name) => facing.includes(name));
  const cell = (opener) => (position) => {
    const found = pairs.find((pair) => pair.opener === opener && pair.position === position);
    const current = found?.path === node ? "page" : null;
    const label = `${position} faces the raise of ${opener}`;
    return h(
      "td",
      {},
      found && h("a", { href: link(found.path), "aria-label": label, "aria-current": current }, position),
    );
  };
  const row = (opener) => h("tr", {}, h("th", {}, `${opener} opens`), columns.map(cell(opener)));
  return table(
    { class: "pairs" },
    [h("th", {}, ""), columns.map((name) => h("th", {}, `vs ${name}`))],
    acting.map(row),
  );
}

class PreflopView {
  constructor(root, charts, blueprints) {
    this.charts = charts;
    this.line = h("p", { class: "row preflop-line" });
    this.caption = h("p", { class: "caption muted", "aria-live": "polite" }, "Point at a class.");
    this.grid = makeGrid("Hand classes before the flop", {
      onhover: (at) => this.point(at),
      onpress: (at) => this.point(at),
    });
    this.ranges = makeFlopRanges();
    this.side = h("div", {});
    this.board = h("div", { class: "preflop-chart" }, this.grid.element, this.caption);
    const own = blueprints.map(({ number, title, players, stack }) => [
      nameOf({ blueprint: number }),
      `${title}: ${players} players, ${stack} bb`,
    ]);
    const options = [...CHART_STACKS.map((size) => [String(size), String(size)]), ...own];
    const go = (name) => (location.hash = `#/preflop/${name}`);
    const pick = choices("Stacks in big blinds, heads-up, or a blueprint", options, nameOf(charts), go);
    const unit = unitChoice(() => this.draw());
    fill(
      root,
      solveTabs("preflop"),
      h("h1", {}, "Before the flop"),
      h("p", { class: "lead" }, LEAD),
      h("div", { class: "row report-tools" }, h("span", { class: "label" }, "Heads-up, big blinds"), pick, unit),
      h(
        "div",
        { class: "compare-columns" },
        panel("", this.line, this.board, this.ranges.element),
        panel("", this.side),
      ),
      small(charts.blueprint ? OF_BLUEPRINT : SOLVED),
    );
  }

  leave() {
    this.grid.leave();
    this.ranges.leave();
  }

  link(path) {
    return `#/preflop/${nameOf(this.charts)}/${path}`;
  }

  async show(path) {
    const bar = waitBar("Solved");
    const wait = h("p", { class: "wait" }, this.charts.blueprint ? READS : SOLVES, bar);
    const timer = setTimeout(() => fill(this.side, wait), this.node ? 250 : 0); // what is known comes at once
    const ask = () => api.preflop(path, this.charts);
    try {
      this.node = this.charts.blueprint
        ? await ask()
        : await watched(bar, () => api.preflopProgress(this.charts.stack), ask);
    } finally {
      clearTimeout(timer);
      if (this.node) this.draw(); // the one before if this one is refused
    }
  }

  draw() {
    this.drawLine();
    this.drawSide();
    this.board.hidden = this.node.to_act === null;
    if (this.node.to_act !== null) this.drawGrid();
    attempt(() => this.ranges.show(this.node.spot));
  }

  drawLine() {
    const step = ({ path, position, name }) =>
      h("a", { class: "tag", href: this.link(path) }, this.said(position, name));
    const here = this.node.to_act ? `${this.node.to_act} to act` : this.node.is_flop ? "the flop" : "the hand is over";
    fill(this.line, this.node.line.map(step), h("b", {}, here));
  }

  said(position, name) {
    return `${position} ${inWords(name, this.node.big_blind)}`;
  }

  get actions() {
    return this.node.actions.map((one) => ({ ...one, name: inWords(one.name, this.node.big_blind) }));
  }

  drawGrid() {
    const { actions } = this;
    const { weights } = this.node;
    const colours = actionColours(actions);
    this.grid.paint((index) => {
      const mix = actions.map(({ classes }) => classes[index]);
      const name = CLASSES[index];
      if (weights[index] < LEAST) return { dim: true, label: `${name}, not here` };
      const size = `100% ${Math.max(12, Math.round(100 * weights[index]))}%`;
      return { background: split(mix, colours), size, label: `${name}: ${mixText(actions, mix)}` };
    });
  }

  point(index) {
    const { actions } = this;
    const { weights } = this.node;
    const isHere = weights[index] >= LEAST;
    const mix = actions.map(({ classes }) => classes[index]);
    fill(this.caption, h("b", {}, CLASSES[index]), ` ${isHere ? mixText(actions, mix, " · ") : "does not get here"}`);
    fill(this.pointed, CLASSES[index]);
    this.shares.forEach((share, at) => fill(share, isHere ? percent(mix[at]) : "–"));
  }

  drawSide() {
    const { node: path, pot, spot, to_act: who, is_flop: isFlop, folds, big_blind: bigBlind } = this.node;
    const { actions } = this;
    const colours = actionColours(actions);
    this.shares = actions.map(() => h("span"));
    this.pointed = h("span");
    const heads = who && h("p", { class: "preflop-heads small muted" }, h("span", {}, "All hands"), this.pointed);
    const act = ({ token, name, frequency }, at) =>
      h("a", { class: "button preflop-action", href: this.link(`${path}:${token}`) }, [
        dot(colours[at]),
        h("b", {}, name),
        h("span", {}, percent(frequency, 1)),
        this.shares[at],
      ]);
    const behind = spot && fact("Behind", amount(spot.stack, bigBlind));
    const facts = h("dl", { class: "facts wide" }, fact("Pot", amount(pot, bigBlind)), behind);
    const title = who ? "Actions" : "The line";
    const fold = ({ position, path: next }) => h("a", { class: "chip", href: this.link(next) }, position);
    const isSeveral = this.node.positions.length > 2;
    fill(
      this.side,
      titleRow(h("h2", {}, title)),
      facts,
      heads,
      h("div", { class: "preflop-actions" }, actions.map(act)),
      isFlop && this.flopParts(spot),
      !who && !isFlop && h("p", {}, this.whyNoSpot()),
      isSeveral &&
        folds.length > 0 &&
        h("p", { class: "row" }, h("span", { class: "label" }, "Folds to"), folds.map(fold)),
      isSeveral && [h("h3", {}, "Every pair of positions"), pairTable(this.node, (to) => this.link(to))],
    );
  }

  whyNoSpot() {
    const left = this.node.folded.filter((isFolded) => !isFolded).length;
    if (left > 2) return `${left} players see the flop: spots are for two.`;
    return "No flop is bet on after this line.";
  }

  flopParts(spot) {
    const title = this.node.line.map(({ position, name }) => this.said(position, name)).join(", ");
    const copy = (side) => {
      const name = side.toUpperCase();
      const put = async () => {
        await navigator.clipboard.writeText(spot[side]);
        toast(`Copied: ${name}.`);
      };
      return button(name, () => attempt(put), { class: "chip" });
    };
    return [
      h(
        "p",
        { class: "row" },
        button("Solve a flop", () => openSpot("solve", spot, title), { class: "primary" }),
        button("Report over flops", () => openSpot("reports", spot, title)),
      ),
      h("p", { class: "row" }, h("span", { class: "label" }, "Copy a range as text"), copy("oop"), copy("ip")),
    ];
  }
}
