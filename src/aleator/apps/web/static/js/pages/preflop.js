// Preflop: charts of the betting before the flop, heads-up; a line that ends in a flop becomes a spot; #/preflop/STACK/PATH.

import { api } from "../api.js";
import { CLASSES, actionColours } from "../cards.js";
import { button, choices, dot, fact, fill, h, panel, small, titleRow } from "../dom.js";
import { mixText, percent } from "../format.js";
import { makeGrid, split } from "../grid.js";
import { openSpot } from "../hands/spots.js";
import { moreLinks } from "../solve/more.js";

const STACKS = [10, 15, 20, 25, 40, 60, 100, 150, 200];
const LEAD =
  "What to do before the flop, heads-up. Take actions to walk down a line; a line that ends in a flop becomes a spot.";
const WHAT =
  "All lines of a few raise sizes are solved at once, with a value network that has seen all flops at the end of the betting: " +
  "an equilibrium of this round, as exact as the network's values. Amounts are in chips; the big blind is 100.";
const LEAST = 1e-3; // of a class that is shown

export async function render(root, [stack, path]) {
  const view = new PreflopView(root, Number(stack) || 100);
  await view.show(path ?? "r:0");
  return {
    leave: () => view.grid.leave(),
    update: async ([nextStack, nextPath]) => {
      if ((Number(nextStack) || 100) !== view.stack) return false;
      await view.show(nextPath ?? "r:0");
      return true;
    },
  };
}

class PreflopView {
  constructor(root, stack) {
    this.stack = stack;
    this.line = h("p", { class: "row preflop-line" });
    this.caption = h("p", { class: "caption muted", "aria-live": "polite" }, "Point at a class.");
    this.grid = makeGrid("Hand classes before the flop", {
      onhover: (at) => this.point(at),
      onpress: (at) => this.point(at),
    });
    this.side = h("div", {});
    this.board = h("div", { class: "preflop-chart" }, this.grid.element, this.caption);
    const options = STACKS.map((size) => [String(size), String(size)]);
    const pick = choices(
      "Stacks in big blinds",
      options,
      String(stack),
      (size) => (location.hash = `#/preflop/${size}`),
    );
    fill(
      root,
      h("h1", {}, "Before the flop"),
      h("p", { class: "lead" }, LEAD),
      h("div", { class: "row report-tools" }, h("span", { class: "label" }, "Stacks, big blinds"), pick),
      h("div", { class: "compare-columns" }, panel("", this.line, this.board), panel("", this.side)),
      small(WHAT),
      moreLinks("preflop"),
    );
  }

  link(path) {
    return `#/preflop/${this.stack}/${path}`;
  }

  async show(path) {
    fill(this.side, h("p", { class: "wait" }, "Solving …"));
    this.node = await api.preflop(path, this.stack);
    this.drawLine();
    this.drawSide();
    this.board.hidden = this.node.to_act === null;
    if (this.node.to_act !== null) this.drawGrid();
  }

  drawLine() {
    const step = ({ path, position, name }) => h("a", { class: "tag", href: this.link(path) }, `${position} ${name}`);
    const here = this.node.to_act ? `${this.node.to_act} to act` : this.node.is_flop ? "the flop" : "the hand is over";
    fill(this.line, this.node.line.map(step), h("b", {}, here));
  }

  drawGrid() {
    const { actions, weights } = this.node;
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
    const { actions, weights } = this.node;
    const mix = actions.map(({ classes }) => classes[index]);
    const text = weights[index] < LEAST ? "does not get here" : mixText(actions, mix, " · ");
    fill(this.caption, h("b", {}, CLASSES[index]), ` ${text}`);
  }

  drawSide() {
    const { node: path, actions, pot, spot, to_act: who, is_flop: isFlop } = this.node;
    const colours = actionColours(actions);
    const act = ({ token, name, frequency }, at) =>
      h("a", { class: "button preflop-action", href: this.link(`${path}:${token}`) }, [
        dot(colours[at]),
        h("b", {}, name),
        h("span", {}, percent(frequency, 1)),
      ]);
    const facts = h("dl", { class: "facts wide" }, fact("Pot", pot), spot && fact("Behind", spot.stack));
    const title = who ? `${who} to act` : "The line";
    fill(
      this.side,
      titleRow(h("h2", {}, title)),
      facts,
      h("div", { class: "preflop-actions" }, actions.map(act)),
      isFlop && this.flopParts(spot),
      !who && !isFlop && h("p", {}, "No flop is bet on after this line."),
    );
  }

  flopParts(spot) {
    const title = this.node.line.map(({ position, name }) => `${position} ${name}`).join(", ");
    return [
      h(
        "dl",
        { class: "told" },
        [h("dt", {}, "OOP"), h("dd", {}, spot.oop)],
        [h("dt", {}, "IP"), h("dd", {}, spot.ip)],
      ),
      h(
        "p",
        { class: "row" },
        button("Solve a flop", () => openSpot("solve", spot, title), { class: "primary" }),
        button("Report over flops", () => openSpot("reports", spot, title)),
      ),
    ];
  }
}
