// A solve that waits, runs, or has failed.

import { api, watchJob } from "../api.js";
import { cards } from "../cards.js";
import { makeChart } from "../chart.js";
import { attempt, button, fact, fill, h, panel, titleRow } from "../dom.js";
import { bytes, number, precise, seconds } from "../format.js";
import { describeSpot } from "../spot.js";

const STAGES = {
  compiling: () => "Getting ready (the first time, code is compiled for this machine) …",
  solving: () => "Solving …",
  saving: () => "Saving …",
  waiting: ({ problem }) => `Waiting for space: ${problem} …`,
};
const KEEP = "Stop and keep";

export function showRunning(root, job) {
  const view = new RunningSolve(root, job);
  if (job.status === "failed" || job.status === "cancelled") view.fail(job);
  else view.watch();
  return { leave: () => view.leave(), update: () => false };
}

class RunningSolve {
  constructor(root, job) {
    Object.assign(this, { root, job, spot: job.request.spot, points: [], estimate: null });
    const label = "Exploitability over iterations";
    const names = { label, xLabel: "iterations", yLabel: "exploitability, % of the pot" };
    this.chart = makeChart({ ...names, height: 300, legend: false });
    this.facts = h("dl", { class: "facts wide" });
    this.bar = h("progress", { max: 1 });
    this.state = h("p", { class: "lead", "aria-live": "polite" }, "Waiting for its turn …");
    this.stop = button(KEEP, () => this.askToStop(), { class: "primary", disabled: job.status !== "running" });
    this.unwatch = () => {};
  }

  leave() {
    this.unwatch();
    this.chart.leave();
  }

  title(name) {
    const back = h("a", { class: "go-back", href: "#/solve", "aria-label": "All spots" }, "‹");
    return titleRow(back, h("h1", {}, name), cards(this.spot.board));
  }

  watch() {
    const told = describeSpot(this.spot).map(([title, text]) => [h("dt", {}, title), h("dd", {}, text)]);
    const buttons = h(
      "p",
      { class: "row" },
      this.stop,
      button("Cancel", () => this.cancel()),
    );
    fill(
      this.root,
      this.title(this.job.name),
      this.state,
      panel("", h("dl", { class: "told" }, told)),
      panel("", this.bar, this.facts, this.chart.element, buttons),
    );
    this.unwatch = watchJob(
      this.job.id,
      (report) => this.onprogress(report),
      (ended) => this.onend(ended),
    );
  }

  async askToStop() {
    this.stop.disabled = true;
    this.stop.textContent = "Stopping …";
    await api.stop(this.job.id);
  }

  async cancel() {
    await api.remove(this.job.id);
    location.hash = "#/solve";
  }

  onprogress({ status, last, events }) {
    this.stop.disabled = status !== "running" || this.stop.textContent !== KEEP;
    this.estimate = last.estimate ?? this.estimate;
    const stage = STAGES[last.stage]?.(last) ?? "Starting …";
    this.state.textContent = status === "queued" ? "Waiting for its turn …" : stage;
    this.drawChart(events);
    this.drawBar(last);
    this.drawFacts(last);
  }

  onend(ended) {
    if (ended.status === "done") location.replace(`#/solve/${this.job.id}/r:0`);
    else if (ended.status === "deleted") location.hash = "#/solve";
    else this.fail(ended);
  }

  drawChart(events) {
    for (const event of events) this.points.push([event.iteration, 100 * event.exploitability]);
    const target = 100 * this.spot.solve.target;
    const series = [{ name: "exploitability", colour: "var(--series-1)", points: this.points, dots: true }];
    const lines = target ? [[target, `target ${number(target)} %`]] : [];
    this.chart.set({ series, xLog: true, yLog: true, lines });
  }

  drawBar(last) {
    const total = last.seconds + last.seconds_left;
    if (Number.isFinite(total) && total > 0) this.bar.value = Math.min(1, last.seconds / total);
    else this.bar.removeAttribute("value");
  }

  drawFacts(last) {
    const { estimate } = this;
    fill(
      this.facts,
      fact("Iteration", number(last.iteration)),
      fact("Exploitability", last.exploitability ? precise(last.exploitability) : "–"),
      fact("Time", seconds(last.seconds)),
      fact("Left, about", seconds(last.seconds_left)),
      estimate && fact("Nodes", number(estimate.nodes.reduce((a, b) => a + b, 0))),
      estimate && fact("Memory", bytes(estimate.memory)),
    );
  }

  fail(ended) {
    const again = button("Run again", () => this.runAgain(ended), { class: "primary" });
    const edit = h("a", { class: "button", href: `#/solve?from=${ended.id}` }, "Change the spot");
    const what = ended.status === "failed" ? "This solve failed" : "This solve was cancelled";
    const parts = [h("h2", {}, what), h("p", {}, ended.error), h("p", { class: "row" }, again, edit)];
    fill(this.root, this.title(ended.name), h("section", { class: "panel problem", role: "alert" }, parts));
  }

  runAgain({ parent, name }) {
    const { locks, threads, bits } = this.job.request;
    return attempt(async () => {
      const isLocked = parent && locks.length;
      const made = await (isLocked
        ? api.resolve(parent, { name, locks })
        : api.solve({ name, spot: this.spot, threads, bits }));
      location.hash = `#/solve/${made.id}`;
    });
  }
}
