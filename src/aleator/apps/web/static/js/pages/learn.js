// Learn: algorithms racing on one game; the chart, the tree and the policies change as they converge.

import { api, watchJob } from "../api.js";
import { COLOURS, makeChart } from "../chart.js";
import { attempt, button, choices, dot, fill, h, head, panel, table, titleRow, toast } from "../dom.js";
import { number, seconds } from "../format.js";
import { makePicks } from "../learn/picks.js";
import { makeTree } from "../learn/tree.js";

const TIMES = [5, 15, 60, 300];
const AXES = [
  ["iteration", "Iterations"],
  ["seconds", "Seconds"],
];
const LEAD =
  "All of these algorithms converge to an equilibrium. How fast is another matter: exploitability is what a perfect " +
  "opponent would still win per game.";

export async function render(root, [game = "kuhn", id]) {
  const page = new Race(await api.learnCatalogue(), game);
  page.build(root);
  await page.open(id);
  return { leave: () => page.leave() };
}

class Race {
  constructor(catalogue, game) {
    Object.assign(this, { catalogue, game, axis: "iteration", limit: TIMES[0] });
    this.curves = new Map();
    this.policies = new Map();
    const names = { label: "Exploitability of each algorithm", yLabel: "exploitability (NashConv / 2)" };
    this.chart = makeChart({ ...names, xLabel: "iterations", height: 340 });
    this.state = h("p", { class: "muted", "aria-live": "polite" }, "Choose algorithms and start the race.");
    this.follow = h("div");
    this.standing = h("div");
    this.tree = makeTree();
    this.picks = makePicks(catalogue.algorithms);
    const onclick = () => (this.running ? api.stop(this.job.id) : this.begin());
    this.start = button("Start the race", onclick, { class: "primary" });
  }

  leave() {
    this.unwatch?.();
    this.chart.leave();
    if (this.job && this.running) api.stop(this.job.id).catch(() => {});
  }

  build(root) {
    const axes = choices("Horizontal axis", AXES, this.axis, (axis) => {
      this.axis = axis;
      this.draw();
    });
    const race = panel("", titleRow(h("h2", {}, "Race"), axes), this.chart.element, this.state, this.standing);
    const tree = panel("", titleRow(h("h2", {}, "Tree and policy"), this.follow), this.tree.element);
    fill(
      root,
      h("h1", {}, "Learn"),
      h("p", { class: "lead" }, LEAD),
      panel("race-bar", h("div", { class: "row" }, this.settings()), this.picks.element),
      h("div", { class: "learn-columns" }, race, tree),
    );
    this.draw();
  }

  settings() {
    const option = (value, text, selected) => h("option", { value, selected }, text);
    const go = () => (location.hash = `#/learn/${games.value}`);
    const listed = this.catalogue.games.map(({ name, title }) => option(name, title, name === this.game));
    const games = h("select", { "aria-label": "Game", onchange: go }, listed);
    const times = TIMES.map((time) => option(time, seconds(time), time === this.limit));
    const limit = h("select", { "aria-label": "How long", onchange: () => (this.limit = Number(limit.value)) }, times);
    const info = this.catalogue.games.find(({ name }) => name === this.game);
    return [games, h("span", { class: "muted" }, info?.summary), limit, this.start];
  }

  open(id) {
    return attempt(async () => {
      this.tree.set(await api.tree(this.game));
      if (id) this.watch(await api.job(id));
      else await this.begin();
    });
  }

  begin() {
    const algorithms = this.picks.chosen();
    if (!algorithms.length) return toast("Choose at least one algorithm.");
    this.curves.clear();
    this.policies.clear();
    return attempt(async () => this.watch(await api.race({ game: this.game, algorithms, seconds: this.limit })));
  }

  watch(job) {
    this.job = job;
    this.running = true;
    this.state.classList.remove("problem-text");
    this.start.textContent = "Stop";
    this.unwatch?.();
    this.unwatch = watchJob(
      job.id,
      (report) => this.onprogress(report),
      (ended) => this.onend(ended),
    );
  }

  onprogress({ status, last, events, policies }) {
    const stage = last.stage === "compiling" ? "Getting ready (kernels are compiled at their first use) …" : "Racing …";
    this.state.textContent = status === "queued" ? "Waiting …" : stage;
    this.take(events);
    for (const policy of policies) this.policies.set(policy.algorithm, policy);
    this.draw();
  }

  onend({ status, error, summary }) {
    this.running = false;
    this.start.textContent = "Start the race";
    this.state.textContent = status === "done" ? "The race is over." : (error ?? "Stopped.");
    this.state.classList.toggle("problem-text", status === "failed");
    if (summary?.events) {
      this.curves.clear();
      this.take(summary.events);
      this.take(summary.results);
    }
    this.draw();
  }

  take(events) {
    for (const event of events) {
      if (!this.curves.has(event.algorithm)) this.curves.set(event.algorithm, []);
      this.curves.get(event.algorithm).push(event);
    }
  }

  draw() {
    const names = [...this.curves.keys()].sort();
    const colours = new Map(names.map((name, index) => [name, COLOURS[index % COLOURS.length]]));
    const point = (event) => [event[this.axis], Math.max(event.exploitability, 1e-12)];
    const series = names.map((name) => ({ name, colour: colours.get(name), points: this.curves.get(name).map(point) }));
    this.chart.set({ series, xLog: true, yLog: true });
    const last = names.map((name) => this.curves.get(name).at(-1));
    const known = this.catalogue.algorithms.flatMap((one) => [one, ...one.variants]);
    const told = new Map(known.map(({ name, summary }) => [name, summary]));
    fill(this.standing, last.length > 0 && standingTable(last, colours, told));
    this.drawPolicy();
  }

  // whose policy the tree shows: that of one algorithm, chosen among those that have reported one
  drawPolicy() {
    const names = [...this.policies.keys()];
    const followed = names.includes(this.followed) ? this.followed : names[0];
    if (!followed) return;
    if (this.follow.dataset.names !== names.join()) {
      this.follow.dataset.names = names.join();
      const options = names.map((name) => [name, name]);
      const choose = (name) => {
        this.followed = name;
        this.draw();
      };
      fill(this.follow, choices("Follow", options, followed, choose));
    }
    this.tree.policy(this.policies.get(followed));
  }
}

// who leads; `told` says of each algorithm what it is
function standingTable(last, colours, told) {
  const order = [...last].sort((a, b) => a.exploitability - b.exploitability);
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", {}, dot(colours.get(one.algorithm)), one.algorithm, h("small", {}, told.get(one.algorithm))),
      h("td", {}, number(Math.max(one.exploitability, 0), 2)),
      h("td", {}, number(one.iteration)),
      h("td", {}, seconds(one.seconds)),
    );
  const heads = ["", "Exploitability", "Iterations", "Time solving"].map((text) => head(text));
  return table({ class: "standing" }, heads, order.map(row));
}
