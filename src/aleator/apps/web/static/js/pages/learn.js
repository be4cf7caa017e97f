// Learn: algorithms racing on one game; the chart, the tree and the policies change as they converge.

import { api, watchJob } from "../api.js";
import { COLOURS, makeChart } from "../chart.js";
import { choices, fill, h, number, seconds, toast } from "../dom.js";
import { makeTree } from "../tree.js";

const FIRST = ["cfr", "cfr+", "dcfr", "pcfr+"];

export async function render(root, [game = "kuhn", id]) {
  const catalogue = await api.learnCatalogue();
  const page = new Race(root, catalogue, game);
  await page.open(id);
  return { leave: () => page.leave() };
}

class Race {
  constructor(root, catalogue, game) {
    Object.assign(this, { root, catalogue, game });
    this.chosen = new Set(JSON.parse(localStorage.getItem("algorithms") ?? "null") ?? FIRST);
    this.axis = "iteration";
    this.limit = 5;
    this.curves = new Map();
    this.policies = new Map();
    this.chart = makeChart({ label: "Exploitability of each algorithm", xLabel: "iterations", yLabel: "exploitability (NashConv / 2)", height: 340 });
    this.state = h("p", { class: "muted", "aria-live": "polite" }, "Choose algorithms and start the race.");
    this.follow = h("div");
    this.standing = h("div");
    this.tree = makeTree();
  }

  leave() {
    this.unwatch?.();
    this.chart.leave();
    if (this.job && this.running) api.stop(this.job.id).catch(() => {});
  }

  async open(id) {
    const games = h("select", { "aria-label": "Game", onchange: () => (location.hash = `#/learn/${games.value}`) }, this.catalogue.games.map((game) => h("option", { value: game.name, selected: game.name === this.game }, game.title)));
    const picks = h("div", { class: "picks" });
    this.drawPicks(picks);
    this.start = h("button", { type: "button", class: "primary", onclick: () => (this.running ? api.stop(this.job.id) : this.begin()) }, "Start the race");
    const limit = h("select", { "aria-label": "How long", onchange: () => (this.limit = Number(limit.value)) }, [5, 15, 60, 300].map((time) => h("option", { value: time, selected: time === this.limit }, seconds(time))));
    const info = this.catalogue.games.find((game) => game.name === this.game);
    fill(
      this.root,
      h("h1", {}, "Learn"),
      h("p", { class: "lead" }, "All of these algorithms converge to an equilibrium. How fast is another matter: exploitability is what a perfect opponent would still win per game."),
      h("section", { class: "panel race-bar" }, h("div", { class: "row" }, games, h("span", { class: "muted" }, info?.summary), limit, this.start), picks),
      h("div", { class: "learn-columns" }, h("section", { class: "panel" }, h("div", { class: "title-row" }, h("h2", {}, "Race"), choices("Horizontal axis", [["iteration", "Iterations"], ["seconds", "Seconds"]], this.axis, (axis) => {
        this.axis = axis;
        this.draw();
      })), this.chart.element, this.state, this.standing), h("section", { class: "panel" }, h("div", { class: "title-row" }, h("h2", {}, "Tree and policy"), this.follow), this.tree.element)),
    );
    this.draw();
    try {
      this.tree.set(await api.tree(this.game));
      if (id) await this.resume(id);
      else await this.begin();
    } catch (error) {
      toast(error.message, "error");
    }
  }

  // chips by family; below them a field for any other name of the command line
  drawPicks(box) {
    const known = this.catalogue.algorithms;
    const own = [...this.chosen].filter((name) => !known.some((entry) => entry.name === name)).map((name) => ({ name, summary: "your own", group: "Yours" }));
    const all = [...known, ...own];
    const groups = [...new Set(all.map(({ group }) => group))];
    const save = () => localStorage.setItem("algorithms", JSON.stringify([...this.chosen]));
    const chip = ({ name, summary }) => {
      const button = h("button", { type: "button", class: "chip", title: summary, "aria-pressed": String(this.chosen.has(name)), onclick: () => {
        if (this.chosen.has(name)) this.chosen.delete(name);
        else if (this.chosen.size < 8) this.chosen.add(name);
        else toast("At most eight at a time.");
        button.setAttribute("aria-pressed", String(this.chosen.has(name)));
        save();
      } }, name);
      return button;
    };
    const more = h("input", { type: "text", placeholder: "another, such as dcfr:1.5,0,4 or mccfr:robust2,batch=100", maxLength: 60, spellcheck: false, "aria-label": "Another algorithm", onkeydown: (event) => event.key === "Enter" && add() });
    const add = () => {
      const name = more.value.trim();
      if (!name) return;
      if (this.chosen.size >= 8) return toast("At most eight at a time.");
      this.chosen.add(name);
      save();
      this.drawPicks(box);
    };
    const row = (group) => h("div", { class: "chips", role: "group", "aria-label": group }, h("span", { class: "label" }, group), all.filter((entry) => entry.group === group).map(chip));
    const [first, ...others] = groups.filter((group) => group !== "Yours");
    const open = box.querySelector("details")?.open ?? all.some(({ name, group }) => others.includes(group) && this.chosen.has(name));
    fill(
      box,
      row(first),
      own.length > 0 && row("Yours"),
      h("details", { open }, h("summary", {}, `${others.join(", ")}, or any other by name`), h("div", { class: "picks" }, others.map(row), h("div", { class: "chips add" }, h("span", { class: "label" }, "By name"), more, h("button", { type: "button", class: "chip", onclick: add }, "Add")))),
    );
  }

  async resume(id) {
    const job = await api.job(id);
    this.watch(job);
  }

  async begin() {
    if (!this.chosen.size) return toast("Choose at least one algorithm.");
    this.curves.clear();
    this.policies.clear();
    try {
      this.watch(await api.race({ game: this.game, algorithms: [...this.chosen], seconds: this.limit }));
    } catch (error) {
      toast(error.message, "error");
    }
  }

  watch(job) {
    this.job = job;
    this.running = true;
    this.state.classList.remove("problem-text");
    this.start.textContent = "Stop";
    this.unwatch?.();
    this.unwatch = watchJob(
      job.id,
      ({ status, last, events, policies }) => {
        this.state.textContent = status === "queued" ? "Waiting …" : last.stage === "compiling" ? "Getting ready (kernels are compiled at their first use) …" : "Racing …";
        this.take(events);
        for (const policy of policies) this.policies.set(policy.algorithm, policy);
        this.draw();
      },
      (ended) => {
        this.running = false;
        this.start.textContent = "Start the race";
        this.state.textContent = ended.status === "done" ? "The race is over." : (ended.error ?? "Stopped.");
        this.state.classList.toggle("problem-text", ended.status === "failed");
        if (ended.summary?.events) {
          this.curves.clear();
          this.take(ended.summary.events);
          for (const point of ended.summary.results) this.take([point]);
        }
        this.draw();
      },
    );
  }

  take(events) {
    for (const event of events) {
      if (!this.curves.has(event.algorithm)) this.curves.set(event.algorithm, []);
      this.curves.get(event.algorithm).push(event);
    }
  }

  draw() {
    const names = this.curves.size ? [...this.curves.keys()].sort() : [];
    const series = names.map((name, index) => ({ name, colour: COLOURS[index % COLOURS.length], points: this.curves.get(name).map((event) => [event[this.axis], Math.max(event.exploitability, 1e-12)]) }));
    this.chart.set({ series, xLog: true, yLog: true });
    const order = names.map((name) => this.curves.get(name).at(-1)).sort((a, b) => a.exploitability - b.exploitability);
    fill(this.standing, order.length > 0 && h("table", { class: "standing" }, h("thead", {}, h("tr", {}, ["", "Exploitability", "Iterations", "Time solving"].map((text) => h("th", {}, text)))), h("tbody", {}, order.map((last) => h("tr", {}, h("th", {}, h("i", { class: "dot", style: { background: COLOURS[names.indexOf(last.algorithm) % COLOURS.length] } }), last.algorithm), h("td", {}, number(Math.max(last.exploitability, 0), 2)), h("td", {}, number(last.iteration)), h("td", {}, seconds(last.seconds)))))));
    const followed = this.policies.has(this.followed) ? this.followed : [...this.policies.keys()][0];
    if (followed && this.follow.dataset.names !== [...this.policies.keys()].join()) {
      this.follow.dataset.names = [...this.policies.keys()].join();
      fill(this.follow, choices("Follow", [...this.policies.keys()].map((name) => [name, name]), followed, (name) => {
        this.followed = name;
        this.draw();
      }));
    }
    if (followed) this.tree.policy(this.policies.get(followed));
  }
}
