// Solve: the list of spots and the editor; a job that runs; the explorer of one that is done.

import { api } from "../api.js";
import { button, h, panel } from "../dom.js";
import { makeEditor } from "../editor/editor.js";
import { openExplorer } from "../explorer/explorer.js";
import { takeSpot } from "../hands/spots.js";
import { showList } from "../solve/list.js";
import { solveTabs } from "../solve/tabs.js";
import { showRunning } from "../solve/running.js";

const LEAD =
  "Both players see the board and hide their hands. The result is an equilibrium over all of them, without simplifying " +
  "cards, with its distance from perfect play measured.";

export async function render(root, [id, path], query) {
  if (!id || id === "new") return overview(root, query);
  const job = await api.job(id);
  if (job.status === "done") return openExplorer(root, job, path ?? "r:0", query);
  return showRunning(root, job);
}

async function overview(root, query) {
  const [presets, algorithms, jobs, { cores }] = await Promise.all([
    api.presets(),
    api.algorithms(),
    api.jobs("solve"),
    api.about(),
  ]);
  const { spot, title } = query.get("spot")
    ? withSizes(takeSpot(), presets[0].spot)
    : await startingSpot(query.get("from"), query.get("node"));
  const submit = async (request) => {
    const job = await api.solve(request);
    location.hash = `#/solve/${job.id}`;
  };
  const list = panel("your-spots");
  const jump = button(`Your spots (${jobs.length})`, () => list.scrollIntoView(), { class: "quiet" });
  const tools = jobs.length > 0 ? [jump] : [];
  const editor = makeEditor({ presets, algorithms, cores, tools }, spot ?? presets[0].spot, submit, title);
  const refresh = async () => showList(list, await api.jobs("solve"), refresh);
  showList(list, jobs, refresh);
  const timer = setInterval(() => {
    if (list.querySelector(".live") && !list.contains(document.activeElement)) refresh();
  }, 1500);
  root.append(solveTabs("solve"), editor.element, h("p", { class: "muted small" }, LEAD), list);
  return {
    leave() {
      clearInterval(timer);
      editor.leave();
    },
  };
}

// a spot that has neither bet sizes nor limits of its solve, with those of another one
function withSizes({ spot, title }, source) {
  const { river } = source;
  return { spot: spot && { ...source, flop: river, turn: river, added: [], lock: {}, ...spot }, title };
}

// what the editor begins with: the spot of a job, or the one that begins at a node of its solution
async function startingSpot(from, node) {
  const job = from && (await api.job(from).catch(() => null));
  if (!job) return {};
  const spot = node ? await spotFrom(job, node) : job.request.spot;
  return { spot, title: [job.name, node].filter(Boolean).join(", ") };
}

// the spot that begins at a node of a solution: its board, pot, stack and ranges, with the sizes of the source
async function spotFrom(job, path) {
  const { board, pot, stack, players } = await api.ranges(job.id, path);
  return { ...job.request.spot, board, pot, stack, oop: players[0], ip: players[1], added: [], lock: {} };
}
