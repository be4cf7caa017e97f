// Reports: one spot on many flops; the list of them, a new one, and one as a table and a heat map, while it is made, too.

import { api } from "../api.js";
import { cards } from "../cards.js";
import { button, fill, h, muted, panel, tag, titleRow } from "../dom.js";
import { ago } from "../format.js";
import { takeSpot } from "../hands/spots.js";
import { makeReportForm } from "../reports/form.js";
import { showReport } from "../reports/report.js";
import { solveTabs } from "../solve/tabs.js";

const LEAD =
  "A spot is solved on flop after flop: what is bet, how often, and what it is worth, on every flop and in the mean. A few " +
  "flops with computed weights stand for all 1,755.";

export async function render(root, [id], query) {
  if (id) return showReport(root, await api.job(id));
  const [presets, jobs, about] = await Promise.all([api.presets(), api.jobs("report"), api.about()]);
  const taken = query.get("spot") ? takeSpot() : {};
  const flop = presets.find(({ spot }) => spot.board.split(" ").length === 3).spot;
  const start = { ...flop, ...(taken.spot && { added: [], lock: {} }), ...taken.spot };
  const form = makeReportForm(start, taken.title ?? "Report", about.cores, async (request) => {
    const job = await api.newReport(request);
    location.hash = `#/reports/${job.id}`;
  });
  const list = panel("");
  const refresh = async () => showJobs(list, await api.jobs("report"), refresh);
  showJobs(list, jobs, refresh);
  fill(root, solveTabs("reports"), h("h1", {}, "Reports over flops"), h("p", { class: "lead" }, LEAD), form, list);
  return {};
}

const STATES = { queued: "waiting", running: "solving", failed: "failed", cancelled: "cancelled" };

function showJobs(box, jobs, refresh) {
  const row = (job) => {
    const remove = async () => {
      if (!confirm(`Delete “${job.name}”?`)) return;
      await api.remove(job.id);
      refresh();
    };
    const state = job.status === "done" ? `${job.summary.solved} flops` : STATES[job.status];
    return h(
      "div",
      { class: "spot-row" },
      h("a", { href: `#/reports/${job.id}` }, h("b", {}, job.name), cards(job.spot.board, "tiny")),
      tag(state, job.status === "done" ? "good" : "live"),
      h("small", {}, ago(job.created)),
      button("✕", remove, { class: "quiet", "aria-label": `Delete ${job.name}`, title: "Delete" }),
    );
  };
  const nothing = muted("Nothing yet: reports are kept here, also when the server is restarted.");
  fill(
    box,
    titleRow(h("h2", {}, "Your reports")),
    jobs.length ? h("div", { class: "spot-list" }, jobs.map(row)) : nothing,
  );
}
