// Solve: the list of spots and the editor; a job that runs; the explorer of one that is done.

import { api, watchJob } from "../api.js";
import { cards } from "../cards.js";
import { makeChart } from "../chart.js";
import { ago, bytes, fill, h, number, precise, seconds, toast } from "../dom.js";
import { makeEditor } from "../editor.js";
import { describeSpot } from "../spot.js";
import { openExplorer } from "./explorer.js";

export async function render(root, [id, path], query) {
  if (!id || id === "new") return overview(root, query);
  const job = await api.job(id);
  if (job.status === "done") return openExplorer(root, job, path ?? "r:0", query);
  return running(root, job);
}

async function overview(root, query) {
  const [presets, jobs] = await Promise.all([api.presets(), api.jobs("solve")]);
  const from = query.get("from");
  const source = from && (await api.job(from).catch(() => null));
  const start = source && query.get("node") ? await spotFrom(source, query.get("node")) : source?.request.spot;
  const editor = makeEditor(
    presets,
    start ?? presets[0].spot,
    async (request) => {
      const job = await api.solve(request);
      location.hash = `#/solve/${job.id}`;
    },
    source && [source.name, query.get("node")].filter(Boolean).join(", "),
  );
  const list = h("section", { class: "panel" });
  const refresh = async () => showList(list, await api.jobs("solve"), refresh);
  showList(list, jobs, refresh);
  const timer = setInterval(() => {
    if (list.querySelector(".live") && !list.contains(document.activeElement)) refresh();
  }, 1500);
  root.append(
    h("h1", {}, "Solve a hold'em spot"),
    h("p", { class: "lead" }, "Both players see the board and hide their hands. The result is an equilibrium over all of them, without simplifying cards, with its distance from perfect play measured."),
    editor.element,
    list,
  );
  return { leave: () => (clearInterval(timer), editor.leave()) };
}

// the spot that begins at a node of a solution: its board, pot, stack and ranges, with the sizes of the source
async function spotFrom(job, path) {
  const { board, pot, stack, players } = await api.ranges(job.id, path);
  return { ...job.request.spot, board, pot, stack, oop: players[0], ip: players[1], added: [], lock: {} };
}

function showList(panel, jobs, refresh) {
  const load = h("input", {
    type: "file", hidden: true, accept: ".solution,.toml",
    onchange: async () => {
      const file = load.files[0];
      try {
        const job = await api.upload(file.name.replace(/\.\w+$/, ""), file);
        location.hash = `#/solve/${job.id}`;
      } catch (error) {
        toast(error.message, "error");
      }
    },
  });
  fill(
    panel,
    h("div", { class: "title-row" }, h("h2", {}, "Your spots"), h("button", { type: "button", class: "quiet", onclick: () => load.click() }, "Load a file"), load),
    jobs.length
      ? h("div", { class: "spot-list" }, jobs.map((job) => spotRow(job, refresh)))
      : h("p", { class: "muted" }, "Nothing yet: what you solve is kept here, also when the server is restarted."),
  );
}

function spotRow(job, refresh) {
  const { spot } = job;
  const told = spot && describeSpot(spot).map(([title, text]) => `${title} ${text}`).join(" · ");
  const state = {
    queued: () => h("span", { class: "tag live" }, "waiting"),
    running: () => h("span", { class: "tag live warn" }, "solving"),
    loading: () => h("span", { class: "tag live" }, "loading"),
    failed: () => h("span", { class: "tag bad", title: job.error }, "failed"),
    cancelled: () => h("span", { class: "tag" }, "cancelled"),
    done: () => h("span", { class: "tag good" }, `${precise(job.summary.exploitability)} of the pot`),
  }[job.status]();
  return h(
    "div",
    { class: "spot-row" },
    h("a", { href: `#/solve/${job.id}` }, h("b", {}, job.name), job.parent && h("span", { class: "tag" }, "locked"), spot && cards(spot.board, "tiny"), told && h("span", { class: "told muted small", title: told }, told)),
    state,
    h("small", {}, ago(job.created)),
    h("button", {
      type: "button", class: "quiet", "aria-label": `Delete ${job.name}`, title: "Delete",
      onclick: async () => {
        if (!confirm(`Delete “${job.name}”?`)) return;
        await api.remove(job.id);
        refresh();
      },
    }, "✕"),
  );
}

function running(root, job) {
  const chart = makeChart({ label: "Exploitability over iterations", xLabel: "iterations", yLabel: "exploitability, % of the pot", height: 300, legend: false });
  const facts = h("dl", { class: "facts wide" });
  const bar = h("progress", { max: 1 });
  const state = h("p", { class: "lead", "aria-live": "polite" }, "Waiting for its turn …");
  const points = [];
  const stop = h("button", {
    type: "button", class: "primary", disabled: job.status !== "running",
    onclick: async () => {
      stop.disabled = true;
      stop.textContent = "Stopping …";
      await api.stop(job.id);
    },
  }, "Stop and keep");
  const cancel = h("button", {
    type: "button",
    onclick: async () => {
      await api.remove(job.id);
      location.hash = "#/solve";
    },
  }, "Cancel");
  const spot = job.request.spot;
  fill(
    root,
    h("div", { class: "title-row" }, h("a", { class: "go-back", href: "#/solve", "aria-label": "All spots" }, "‹"), h("h1", {}, job.name), cards(spot.board)),
    job.status === "failed" || job.status === "cancelled" ? null : state,
    h("section", { class: "panel" }, h("dl", { class: "told" }, describeSpot(spot).map(([title, text]) => [h("dt", {}, title), h("dd", {}, text)]))),
    h("section", { class: "panel" }, bar, facts, chart.element, h("p", { class: "row" }, stop, cancel)),
  );
  const show = (title, text) => h("div", {}, h("dt", {}, title), h("dd", {}, text));
  function failed(ended) {
    const again = h("button", {
      type: "button", class: "primary",
      onclick: async () => {
        const request = ended.parent && job.request.locks.length ? await api.resolve(ended.parent, { name: ended.name, locks: job.request.locks }) : await api.solve({ name: ended.name, spot, threads: job.request.threads, bits: job.request.bits });
        location.hash = `#/solve/${request.id}`;
      },
    }, "Run again");
    fill(root, h("div", { class: "title-row" }, h("a", { class: "go-back", href: "#/solve" }, "‹"), h("h1", {}, ended.name), cards(spot.board)), h("section", { class: "panel problem", role: "alert" }, h("h2", {}, ended.status === "failed" ? "This solve failed" : "This solve was cancelled"), h("p", {}, ended.error), h("p", { class: "row" }, again, h("a", { class: "button", href: `#/solve?from=${ended.id}` }, "Change the spot"))));
  }
  if (job.status === "failed" || job.status === "cancelled") {
    failed(job);
    return { leave: chart.leave };
  }
  let estimate = null;
  const unwatch = watchJob(
    job.id,
    ({ status, last, events }) => {
      stop.disabled = status !== "running" || stop.textContent !== "Stop and keep";
      estimate = last.estimate ?? estimate;
      const said = { compiling: "Getting ready (the first time, code is compiled for this machine) …", solving: "Solving …", saving: "Saving …", waiting: `Waiting for space: ${last.problem} …` };
      state.textContent = status === "queued" ? "Waiting for its turn …" : (said[last.stage] ?? "Starting …");
      for (const event of events) points.push([event.iteration, 100 * event.exploitability]);
      const target = 100 * spot.solve.target;
      chart.set({ series: [{ name: "exploitability", colour: "var(--series-1)", points, dots: true }], xLog: true, yLog: true, lines: target ? [[target, `target ${number(target)} %`]] : [] });
      const total = last.seconds + last.seconds_left;
      if (Number.isFinite(total) && total > 0) bar.value = Math.min(1, last.seconds / total);
      else bar.removeAttribute("value");
      fill(facts, show("Iteration", number(last.iteration)), show("Exploitability", last.exploitability ? precise(last.exploitability) : "–"), show("Time", seconds(last.seconds)), show("Left, about", seconds(last.seconds_left)), estimate && [show("Nodes", number(estimate.nodes.reduce((a, b) => a + b, 0))), show("Memory", bytes(estimate.memory))]);
    },
    (ended) => {
      if (ended.status === "done") location.replace(`#/solve/${job.id}/r:0`);
      else if (ended.status === "deleted") location.hash = "#/solve";
      else failed(ended);
    },
  );
  return { leave: () => (unwatch(), chart.leave()), update: () => false };
}
