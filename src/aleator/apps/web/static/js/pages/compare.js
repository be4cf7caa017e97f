// Compare: two solutions of one board node by node; #/compare/FIRST/SECOND/PATH.

import { api } from "../api.js";
import { cards } from "../cards.js";
import { choices, fact, field, fill, h, panel, small, table, titleRow } from "../dom.js";
import { apart, changed, percent, signed } from "../format.js";
import { makeGrid } from "../grid.js";
import { toldApart } from "../reports/apart.js";
import { SHOWN, caption, describeChanges, lineInWords } from "../reports/changes.js";
import { comparedInUnit } from "../reports/in-unit.js";
import { solveTabs } from "../solve/tabs.js";
import { unitChoice, withUnit } from "../units.js";

const LEAD = "What another size, a lock or another range changes. Differences are the second less the first.";
const NONE =
  "This takes two solutions of the same board. Solve a spot first; then solve it again with other sizes, another range or " +
  "a locked decision, and see side by side what that changes.";
const ALONE = "There is no other solution of this board yet. Change something and solve it again:";

export async function render(root, [first, second, path]) {
  const jobs = toldApart((await api.jobs("solve")).filter(({ status }) => status === "done"));
  const head = [solveTabs("compare"), h("h1", {}, "Compare two solutions"), h("p", { class: "lead" }, LEAD)];
  if (!jobs.length) {
    fill(root, head, nothing());
    return {};
  }
  const one = jobs.find(({ id }) => id === first) ?? jobs[1] ?? jobs[0];
  const boardOf = (job) => job.spot.board.split(" ").sort().join(" ");
  const others = jobs.filter((job) => job.id !== one.id && boardOf(job) === boardOf(one));
  const other = others.find(({ id }) => id === second) ?? others[0];
  fill(root, head, pickers(jobs, others, one, other));
  if (!other) {
    root.append(alone(one));
    return {};
  }
  const view = new CompareView(one, other);
  root.append(view.element);
  await view.show(path ?? "r:0");
  return { leave: () => view.leave() };
}

const nothing = () =>
  panel(
    "",
    h("p", {}, NONE),
    h("p", { class: "row" }, h("a", { class: "button primary", href: "#/solve" }, "Solve a spot")),
  );

// ways to a second solution, where there is only one
function alone({ id, name }) {
  const link = (text, href) => h("a", { class: "button", href }, text);
  return panel(
    "",
    h("p", {}, ALONE),
    h(
      "p",
      { class: "row" },
      link(`Other sizes or ranges for “${name}”`, `#/solve?from=${id}`),
      link("Lock a decision", `#/solve/${id}/r:0`),
    ),
  );
}

function pickers(jobs, others, one, other) {
  const pick = (label, list, chosen, go) => {
    const option = ({ id, name, spot }) => h("option", { value: id }, `${name} (${spot.board})`);
    const select = h(
      "select",
      { "aria-label": label, onchange: () => (location.hash = go(select.value)) },
      list.map(option),
    );
    if (chosen) select.value = chosen.id;
    return field(label, select);
  };
  return h(
    "div",
    { class: "report-fields compare-pick" },
    pick("First", jobs, one, (id) => `#/compare/${id}`),
    pick("Second", others, other, (id) => `#/compare/${one.id}/${id}`),
  );
}

class CompareView {
  constructor(one, other) {
    Object.assign(this, { one, other, shown: "raise", side: null, found: null });
    this.facts = h("dl", { class: "facts wide" });
    this.tools = h("div", { class: "row report-tools" });
    this.actions = h("div", {});
    this.lines = h("div", { class: "flop-table" });
    this.caption = h("p", { class: "caption muted", "aria-live": "polite" }, "Point at a class.");
    this.grid = makeGrid("Differences by hand class", {
      onhover: (at) => this.point(at),
      onpress: (at) => this.point(at),
    });
    this.title = titleRow();
    this.element = h(
      "div",
      { class: "compare-columns" },
      panel("", this.title, this.tools, this.grid.element, this.caption),
      panel("", this.facts, this.actions, this.lines),
    );
  }

  leave() {
    this.grid.leave();
  }

  async show(path) {
    this.told = await api.compare(this.one.id, this.other.id, path);
    this.found = this.inUnit();
    this.side ??= Math.max(this.found.player, 0);
    this.draw();
  }

  drawTitle() {
    const { path, said, board } = this.found;
    const up = path.split(":").slice(0, -1).join(":");
    const back = up.length > 1 && h("a", { class: "button", href: this.link(up) }, "Back");
    fill(this.title, h("h2", { title: path }, lineInWords(said)), cards(board, "tiny"), back);
  }

  inUnit() {
    return comparedInUnit(this.told, this.one.spot.min_bet || 1);
  }

  link(path) {
    return `#/compare/${this.one.id}/${this.other.id}/${path}`;
  }

  point(at) {
    fill(this.caption, caption(this.found, this.side, at));
  }

  draw() {
    const { found } = this;
    const acts = found.player >= 0;
    if (!acts) this.shown = "ev";
    const shown = choices("Grid shows", acts ? SHOWN : SHOWN.slice(-1), this.shown, (chosen) => {
      this.shown = chosen;
      this.draw();
    });
    const sides = choices(
      "Whose EV",
      [
        ["0", "OOP"],
        ["1", "IP"],
      ],
      String(this.side),
      (chosen) => {
        this.side = Number(chosen);
        this.draw();
      },
    );
    const unit = unitChoice(() => {
      this.found = this.inUnit();
      this.draw();
    });
    this.drawTitle();
    fill(this.tools, shown, this.shown === "ev" && sides, unit);
    this.grid.paint(describeChanges(found, this.shown, this.side));
    this.drawFacts();
    this.drawActions();
    this.drawLines();
  }

  drawFacts() {
    const { evs, distance, player } = this.found;
    const both = (side) => changed(evs[0][side], evs[1][side]);
    const who = ["OOP", "IP"][player];
    fill(
      this.facts,
      fact(withUnit("EV OOP"), both(0)),
      fact(withUnit("EV IP"), both(1)),
      who && fact(`${who}'s hands act otherwise`, percent(distance, 1)),
    );
  }

  drawActions() {
    const names = Object.fromEntries(this.found.actions.flat().map(({ token, name }) => [token, name]));
    const row = ({ token, first, second }) => {
      const change = first === null || second === null ? "–" : apart(100 * first, 100 * second, 1);
      return h(
        "tr",
        {},
        h("th", {}, names[token]),
        [percent(first, 1), percent(second, 1), change].map((text) => h("td", {}, text)),
      );
    };
    const heads = ["Action", this.one.name, this.other.name, "±"].map((text) => h("th", {}, text));
    fill(
      this.actions,
      this.found.shares.length > 0 && table({ class: "actions-table" }, heads, this.found.shares.map(row)),
    );
  }

  drawLines() {
    const row = ({ path, said, player, reached, kinds, distance }) =>
      h(
        "tr",
        {},
        h("th", {}, h("a", { href: this.link(path), title: path }, lineInWords(said))),
        h("td", {}, ["OOP", "IP"][player]),
        h("td", {}, `${percent(reached[0])} → ${percent(reached[1])}`),
        h("td", {}, percent(distance, 1)),
        h("td", {}, signed(100 * (kinds[1][2] - kinds[0][2]), 0)),
      );
    const heads = ["After", "Acts", "Reached", "Otherwise", "Bets ±"].map((text) => h("th", {}, text));
    const { lines } = this.found;
    fill(
      this.lines,
      lines.length > 0 && [h("h2", {}, "Where play differs most"), table({ class: "flops" }, heads, lines.map(row))],
      small("“Otherwise”: how much of the range folds, calls or bets in one solution and not in the other."),
    );
  }
}
