// Runs: training runs with their curves, live.

import { api, watchRun } from "../api.js";
import { COLOURS, makeChart } from "../chart.js";
import { button, choices, fact, fill, h, tag, titleRow, toast } from "../dom.js";
import { ago, number, seconds } from "../format.js";

const MAIN = ["exploitability", "loss"];
const AXES = [
  ["epoch", "Epochs"],
  ["examples", "Examples"],
  ["nodes", "Nodes touched"],
  ["seconds", "Seconds"],
];
const TITLES = {
  exploitability: "exploitability (NashConv / 2)",
  loss: "loss of the network",
  searches_per_second: "searches per second",
  learning_rate: "learning rate",
  steps: "training steps",
  searches: "subgames searched",
  nodes_per_second: "nodes per second, training included",
  samples: "samples of regrets",
  traversals: "traversals",
  policy_loss: "loss of the average policy",
  games: "games played",
  workers: "workers",
  replaced: "workers that died and were replaced",
  busy: "share of the time that workers work",
  examples_per_second_and_worker: "examples per second and worker",
  staleness: "training steps that searching networks are behind, mean",
  most_stale: "training steps that searching networks are behind, most",
};
const LEAD =
  "How ReBeL learns: it plays against itself, searches at every move, and fits a value network to what the searches " +
  "find. The runs of the networks you play against are here. Your own appear while they train, whatever the method:";

export async function render(root, rest) {
  const [runs, about] = await Promise.all([api.runs(), api.about()]);
  const chosen = runs.find((run) => run.name === rest.join("/")) ?? runs[0];
  const list = h("nav", { class: "panel run-list", "aria-label": "Runs" });
  const view = new RunView(chosen);
  const command = `aleator train rebel --game liars-dice:1x4 --out ${about.runs_dir}/mine`;
  const copy = () => navigator.clipboard.writeText(command).then(() => toast("Copied."));
  root.append(
    h("h1", {}, "Training runs"),
    h("p", { class: "lead" }, LEAD),
    h("p", { class: "row" }, h("code", { class: "command" }, command), button("Copy", copy, { class: "quiet" })),
    h("div", { class: "run-columns" }, list, view.element),
  );
  const show = (found) =>
    fill(
      list,
      found.map((run) => runLink(run, run.name === chosen.name)),
    );
  show(runs);
  const timer = setInterval(async () => {
    const found = await api.runs().catch(() => null);
    if (found && !list.contains(document.activeElement)) show(found);
  }, 4000);
  return {
    leave() {
      clearInterval(timer);
      view.leave();
    },
  };
}

const live = (run) => run.live && tag("live", "live good");

function runLink(run, isChosen) {
  const told = `${run.config.game ?? ""}, ${number(run.last.epoch ?? run.points)} ${run.last.slice ? "slices" : "epochs"}`;
  const when = !run.config.report && `, ${ago(run.updated)}`;
  const properties = { href: `#/runs/${run.name}`, "aria-current": isChosen ? "page" : null };
  return h("a", properties, h("b", {}, run.name), live(run), h("small", {}, told, when));
}

// the columns of a run that are drawn, those that matter first
export function drawnColumns(columns) {
  const isAxis = (name) => AXES.some(([axis]) => axis === name);
  const names = Object.keys(columns).filter((name) => !isAxis(name) && columns[name].some((value) => value !== null));
  return [...MAIN.filter((name) => names.includes(name)), ...names.filter((name) => !MAIN.includes(name))];
}

// points of a column over an axis; over the rows where the axis is not there
export function columnPoints(columns, axis, name) {
  const at = columns[axis] ?? columns[name].map((_, row) => row);
  return at.map((x, row) => [x, columns[name][row]]).filter(([x, y]) => x !== null && y !== null);
}

class RunView {
  constructor(run) {
    this.axis = "epoch";
    this.element = h("section", { class: "panel" }, h("p", { class: "wait" }, "Reading …"));
    this.charts = new Map();
    this.unwatch = watchRun(run.name, (next) => {
      this.run = next;
      this.draw();
    });
  }

  leave() {
    this.unwatch();
    for (const chart of this.charts.values()) chart.leave();
  }

  draw() {
    const names = drawnColumns(this.run.columns);
    const axes = AXES.filter(([axis]) => this.run.columns[axis]);
    if (!axes.some(([axis]) => axis === this.axis)) this.axis = axes[0]?.[0] ?? "epoch";
    if (this.shown !== names.join()) {
      this.shown = names.join();
      this.build(names, axes);
    }
    this.drawFacts();
    names.forEach((name, index) => this.drawChart(name, COLOURS[index % COLOURS.length]));
  }

  build(names, axes) {
    const { run } = this;
    for (const chart of this.charts.values()) chart.leave();
    this.charts = new Map(names.map((name) => [name, runChart(name, run.name)]));
    this.facts = h("dl", { class: "facts wide" });
    const axis = choices("Horizontal axis", axes, this.axis, (chosen) => {
      this.axis = chosen;
      this.draw();
    });
    const boxes = names.map((name) => {
      const kind = MAIN.includes(name) ? "main-chart" : "";
      return h("div", { class: kind }, this.charts.get(name).element);
    });
    const settings = h("pre", {}, JSON.stringify(run.config, null, 2));
    fill(
      this.element,
      titleRow(h("h2", {}, run.name), live(run), axis),
      this.facts,
      h("div", { class: "run-charts" }, boxes),
      Object.keys(run.config).length > 0 && h("details", {}, h("summary", {}, "Settings"), settings),
    );
  }

  drawFacts() {
    const { last, config, columns } = this.run;
    const known = [...(columns.exploitability ?? []), config.report?.exploitability ?? null];
    const best = Math.min(...known.filter((value) => value !== null));
    fill(
      this.facts,
      fact(last.slice ? "Slice" : "Epoch", number(last.slice ?? last.epoch)),
      fact("Time", seconds(last.all_seconds ?? last.seconds)),
      fact("Examples", number(last.examples)),
      fact("Loss", number(last.loss)),
      Number.isFinite(best) && fact("Best exploitability", number(best)),
      config.report && fact("Trained on", config.report.device),
    );
  }

  drawChart(name, colour) {
    const points = columnPoints(this.run.columns, this.axis, name);
    const yLog = points.length > 0 && points.every(([, y]) => y > 0);
    this.charts.get(name).set({ series: [{ name, colour, points, dots: points.length < 40 }], yLog });
  }
}

function runChart(name, run) {
  const height = MAIN.includes(name) ? 260 : 180;
  return makeChart({ label: `${name} of ${run}`, xLabel: "", yLabel: TITLES[name] ?? name, height, legend: false });
}
