// Runs: training runs with their curves, live.

import { api, watchRun } from "../api.js";
import { COLOURS, makeChart } from "../chart.js";
import { ago, choices, fill, h, number, seconds, toast } from "../dom.js";

const FIRST = ["exploitability", "loss"];
const AXES = [["epoch", "Epochs"], ["examples", "Examples"], ["seconds", "Seconds"]];
const TITLES = { exploitability: "exploitability (NashConv / 2)", loss: "loss of the value network", searches_per_second: "searches per second", learning_rate: "learning rate", steps: "training steps", searches: "subgames searched" };

export async function render(root, rest) {
  const name = rest.join("/");
  const [runs, about] = await Promise.all([api.runs(), api.about()]);
  const chosen = runs.find((run) => run.name === name) ?? runs[0];
  const list = h("nav", { class: "panel run-list", "aria-label": "Runs" });
  const view = new RunView(chosen);
  const command = `aleator train rebel --game liars-dice:1x4 --out ${about.runs_dir}/mine`;
  root.append(
    h("h1", {}, "Training runs"),
    h("p", { class: "lead" }, "How ReBeL learns: it plays against itself, searches at every move, and fits a value network to what the searches find. The runs of the networks you play against are here; one of your own appears while it trains:"),
    h("p", { class: "row" }, h("code", { class: "command" }, command), h("button", { type: "button", class: "quiet", onclick: () => navigator.clipboard.writeText(command).then(() => toast("Copied.")) }, "Copy")),
    h("div", { class: "run-columns" }, list, view.element),
  );
  const show = (found) => fill(list, found.map((run) => h("a", { href: `#/runs/${run.name}`, "aria-current": run.name === chosen.name ? "page" : null }, h("b", {}, run.name), run.live && h("span", { class: "tag live good" }, "live"), h("small", {}, `${run.config.game ?? ""}, ${number(run.last.epoch ?? run.points)} epochs`, !run.config.report && `, ${ago(run.updated)}`))));
  show(runs);
  const timer = setInterval(async () => {
    const found = await api.runs().catch(() => null);
    if (found && !list.contains(document.activeElement)) show(found);
  }, 4000);
  return { leave: () => (clearInterval(timer), view.leave()) };
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
    for (const { chart } of this.charts.values()) chart.leave();
  }

  draw() {
    const { run } = this;
    const columns = Object.keys(run.columns).filter((name) => !AXES.some(([axis]) => axis === name) && run.columns[name].some((value) => value !== null));
    const order = [...FIRST.filter((name) => columns.includes(name)), ...columns.filter((name) => !FIRST.includes(name))];
    const axes = AXES.filter(([axis]) => run.columns[axis]);
    if (!axes.some(([axis]) => axis === this.axis)) this.axis = axes[0]?.[0] ?? "epoch";
    if (this.shown !== order.join()) {
      this.shown = order.join();
      for (const { chart } of this.charts.values()) chart.leave();
      this.charts = new Map(order.map((name) => [name, { chart: makeChart({ label: `${name} of ${run.name}`, xLabel: "", yLabel: TITLES[name] ?? name, height: FIRST.includes(name) ? 260 : 180, legend: false }) }]));
      this.facts = h("dl", { class: "facts wide" });
      fill(
        this.element,
        h("div", { class: "title-row" }, h("h2", {}, run.name), run.live && h("span", { class: "tag live good" }, "live"), choices("Horizontal axis", axes, this.axis, (axis) => {
          this.axis = axis;
          this.draw();
        })),
        this.facts,
        h("div", { class: "run-charts" }, [...this.charts].map(([name, { chart }]) => h("div", { class: FIRST.includes(name) ? "main-chart" : "" }, chart.element))),
        Object.keys(run.config).length > 0 && h("details", {}, h("summary", {}, "Settings"), h("pre", {}, JSON.stringify(run.config, null, 2))),
      );
    }
    const fact = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
    const found = [...(run.columns.exploitability ?? []), run.config.report?.exploitability ?? null].filter((value) => value !== null);
    const best = Math.min(...found);
    fill(this.facts, fact("Epoch", number(run.last.epoch)), fact("Time", seconds(run.last.seconds)), fact("Examples", number(run.last.examples)), fact("Loss", number(run.last.loss)), Number.isFinite(best) && fact("Best exploitability", number(best)), run.config.report && fact("Trained on", run.config.report.device));
    const at = run.columns[this.axis] ?? [...run.columns[order[0]].keys()];
    [...this.charts].forEach(([name, { chart }], index) => {
      const values = run.columns[name];
      const points = at.map((x, row) => [x, values[row]]).filter(([x, y]) => x !== null && y !== null);
      chart.set({ series: [{ name, colour: COLOURS[index % COLOURS.length], points, dots: points.length < 40 }], yLog: points.length > 0 && points.every(([, y]) => y > 0) });
    });
  }
}
