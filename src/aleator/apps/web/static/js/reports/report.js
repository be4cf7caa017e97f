// A report: its means, a heat map and a table that sorts and filters by texture; it grows while flops are solved.

import { api, watchJob } from "../api.js";
import { button, choices, fact, fill, h, panel, titleRow } from "../dom.js";
import { chips, percent, seconds } from "../format.js";
import { unitChoice, withUnit } from "../units.js";
import { lineInWords } from "./changes.js";
import { reportInUnit } from "./in-unit.js";
import { drawMap } from "./map.js";
import { meanOver } from "./mean.js";
import { TEXTURES, drawTable, measures } from "./table.js";

const SECONDS_BETWEEN_LOOKS = 3;

export function showReport(root, job) {
  const view = new ReportView(root, job);
  view.begin();
  return { leave: () => view.leave(), update: () => false };
}

class ReportView {
  constructor(root, job) {
    Object.assign(this, { root, job, place: "root", measure: "ev0", sort: "", filters: {}, told: null, looked: 0 });
    this.state = h("p", { class: "lead", "aria-live": "polite" });
    this.bar = h("progress", { max: 1 });
    this.facts = h("dl", { class: "facts wide" });
    this.tools = h("div", { class: "row report-tools" });
    this.map = h("div", { class: "flop-map" });
    this.table = h("div", { class: "flop-table" });
    this.stop = button("Stop and keep", () => api.stop(job.id));
    this.unwatch = () => {};
  }

  leave() {
    this.unwatch();
  }

  begin() {
    const back = h("a", { class: "go-back", href: "#/reports", "aria-label": "All reports" }, "‹");
    const csv = h("a", { class: "button", href: `/api/reports/${this.job.id}/csv`, download: "" }, "CSV");
    fill(
      this.root,
      titleRow(back, h("h1", {}, this.job.name), this.stop, csv),
      this.state,
      this.bar,
      panel("", this.facts),
      panel("report-panel", this.tools, h("div", { class: "report-columns" }, this.map, this.table)),
    );
    if (this.job.status === "queued" || this.job.status === "running") this.watch();
    else this.end(this.job);
  }

  watch() {
    const onprogress = ({ status, last }) => {
      const left = Number.isFinite(last.seconds_left) ? `, ${seconds(last.seconds_left)} left` : "";
      this.state.textContent =
        status === "queued" ? "Waiting for its turn …" : `${last.solved ?? 0} of ${last.wanted ?? "–"} flops${left}`;
      if (last.wanted) this.bar.value = last.solved / last.wanted;
      if (last.solved && Date.now() - this.looked > 1000 * SECONDS_BETWEEN_LOOKS) this.load();
    };
    this.unwatch = watchJob(this.job.id, onprogress, (ended) => this.end(ended));
  }

  async end(job) {
    this.stop.remove();
    this.bar.remove();
    if (job.status === "deleted") location.hash = "#/reports";
    else if (job.status === "done") await this.load();
    else this.state.textContent = job.error ?? "It was cancelled.";
  }

  async load() {
    this.looked = Date.now();
    const report = await api.report(this.job.id).catch(() => null);
    if (!report?.flops.length) return;
    const isFirst = !this.told;
    this.told = report;
    this.report = reportInUnit(report);
    if (isFirst) this.place = report.node === "r:0" ? "root" : "node";
    if (report.solved === report.wanted)
      this.state.textContent = report.solved === 1 ? "1 flop, solved" : `${report.solved} flops, all solved`;
    if (isFirst) this.buildTools();
    this.draw();
  }

  buildTools() {
    const { node, said } = this.report;
    const places = [["root", "First decision"], ...(node === "r:0" ? [] : [["node", lineInWords(said)]])];
    const place = choices("Where", places, this.place, (chosen) => {
      this.place = chosen;
      this.measure = "ev0";
      this.buildTools();
      this.draw();
    });
    const options = measures(this.report, this.place).map(([key, title]) => h("option", { value: key }, title));
    const measure = h(
      "select",
      { "aria-label": "Map shows", onchange: ({ target }) => this.show(target.value) },
      options,
    );
    measure.value = this.measure;
    const filters = Object.entries(TEXTURES).map(([name, values]) => {
      const all = h("option", { value: "" }, `any ${name}`);
      const onchange = ({ target }) => {
        this.filters[name] = target.value;
        this.draw();
      };
      return h(
        "select",
        { "aria-label": name, onchange },
        all,
        values.map((value) => h("option", { value, selected: this.filters[name] === value }, value)),
      );
    });
    const unit = unitChoice(() => this.countIn());
    fill(this.tools, place, unit, h("label", { class: "row" }, h("span", { class: "label" }, "Map"), measure), filters);
  }

  // draws everything in the unit that was chosen
  countIn() {
    this.report = reportInUnit(this.told);
    this.buildTools();
    this.draw();
  }

  show(measure) {
    this.measure = measure;
    this.draw();
  }

  draw() {
    const { report, place, filters } = this;
    const isChosen = ({ texture }) =>
      Object.entries(filters).every(([name, value]) => !value || texture[name] === value);
    const flops = report.flops.filter(isChosen);
    this.drawFacts(flops);
    const [, title, read, format] = measures(report, place).find(([key]) => key === this.measure);
    drawMap(this.map, { flops, place, title, format, read });
    const onsort = (key) => {
      this.sort = this.sort === key ? `-${key}` : key;
      this.draw();
    };
    drawTable(this.table, { report, flops, place, sort: this.sort, onsort });
  }

  // what is done in the mean over the flops that are shown
  drawFacts(flops) {
    const { report, place } = this;
    const mean = (read) => meanOver(flops, place, read);
    const { actions } = report.mean[place];
    const acts = ["OOP", "IP"][report.players[place]];
    const share = flops.reduce((sum, { chance }) => sum + chance, 0);
    fill(
      this.facts,
      fact("Flops shown", `${flops.length} of ${report.solved}`),
      fact("Share of deals", percent(share)),
      fact(withUnit("EV OOP"), chips(mean(({ ev }) => ev[0]))),
      fact(withUnit("EV IP"), chips(mean(({ ev }) => ev[1]))),
      fact(
        "Equity OOP",
        percent(
          mean(({ equity }) => equity[0]),
          1,
        ),
      ),
      actions.map(({ name }, at) =>
        fact(
          `${acts}: ${name}`,
          percent(
            mean(({ actions: own }) => own[at].frequency),
            1,
          ),
        ),
      ),
    );
  }
}
