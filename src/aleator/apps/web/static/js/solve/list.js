// The spots that have been asked for: what they are, how far they are.

import { api } from "../api.js";
import { cards } from "../cards.js";
import { attempt, button, fill, h, muted, tag, titleRow } from "../dom.js";
import { ago, precise } from "../format.js";
import { describeSpot } from "../spot.js";

const NOTHING = "Nothing yet: what you solve is kept here, also when the server is restarted.";

export function showList(box, jobs, refresh) {
  const rows = jobs.map((job) => spotRow(job, refresh));
  const list = jobs.length ? h("div", { class: "spot-list" }, rows) : muted(NOTHING);
  fill(box, titleRow(h("h2", {}, "Your spots"), loadButton()), list);
}

function loadButton() {
  const load = () =>
    attempt(async () => {
      const [file] = input.files;
      const job = await api.upload(file.name.replace(/\.\w+$/, ""), file);
      location.hash = `#/solve/${job.id}`;
    });
  const input = h("input", { type: "file", hidden: true, accept: ".solution,.toml", onchange: load });
  return [button("Load a file", () => input.click(), { class: "quiet" }), input];
}

const STATES = {
  queued: () => tag("waiting", "live"),
  running: () => tag("solving", "live warn"),
  loading: () => tag("loading", "live"),
  failed: (job) => tag("failed", "bad", { title: job.error }),
  cancelled: () => tag("cancelled"),
  done: (job) => tag(`${precise(job.summary.exploitability_fraction)} of the pot`, "good"),
};

function spotRow(job, refresh) {
  const told = describe(job.spot);
  const remove = async () => {
    if (!confirm(`Delete “${job.name}”?`)) return;
    await api.remove(job.id);
    refresh();
  };
  const link = h(
    "a",
    { href: `#/solve/${job.id}` },
    h("b", {}, job.name),
    job.parent && tag("locked"),
    job.spot && cards(job.spot.board, "tiny"),
    told && h("span", { class: "told muted small", title: told }, told),
  );
  const cross = button("✕", remove, { class: "quiet", "aria-label": `Delete ${job.name}`, title: "Delete" });
  return h("div", { class: "spot-row" }, link, STATES[job.status](job), h("small", {}, ago(job.created)), cross);
}

function describe(spot) {
  const pairs = spot ? describeSpot(spot) : [];
  return pairs.map(([title, text]) => `${title} ${text}`).join(" · ");
}
