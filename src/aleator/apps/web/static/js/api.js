// The server's JSON API.

export class Refused extends Error {}

async function call(method, path, body, raw) {
  const options = { method, headers: {} };
  if (raw !== undefined) options.body = raw;
  else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  let answer;
  try {
    answer = await fetch(`/api${path}`, options);
  } catch {
    throw new Refused("The server does not answer. Is it still running?");
  }
  if (answer.status === 204) return null;
  const value = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(problem(value) ?? `The server answered ${answer.status}.`);
  return value;
}

function problem(value) {
  if (typeof value?.detail === "string") return value.detail;
  const first = value?.detail?.[0];
  return first && `${(first.loc ?? []).filter((part) => part !== "body" && part !== "spot").join(".")}: ${first.msg}`;
}

const query = (values) => new URLSearchParams(values).toString();

export const api = {
  about: () => call("GET", "/about"),
  range: (text) => call("POST", "/holdem/range", { text }),
  presets: () => call("GET", "/holdem/presets"),
  algorithms: () => call("GET", "/algorithms"),
  parseSpot: (toml) => call("POST", "/holdem/spot/parse", { toml }),
  formatSpot: (spot) => call("POST", "/holdem/spot/format", spot),
  estimate: (request) => call("POST", "/holdem/estimate", request),
  solve: (request) => call("POST", "/jobs/solve", request),
  resolve: (id, request) => call("POST", `/solutions/${id}/resolve`, request),
  jobs: (kind) => call("GET", `/jobs?${query({ kind })}`),
  job: (id) => call("GET", `/jobs/${id}`),
  stop: (id) => call("POST", `/jobs/${id}/stop`),
  rename: (id, name) => call("PATCH", `/jobs/${id}`, { name }),
  remove: (id) => call("DELETE", `/jobs/${id}`),
  node: (id, path, values) => call("GET", `/solutions/${id}/node?${query({ path, values })}`),
  hands: (id, path, handClass, player) =>
    call("GET", `/solutions/${id}/hands?${query({ path, hand_class: handClass, player })}`),
  ranges: (id, path) => call("GET", `/solutions/${id}/ranges?${query({ path })}`),
  runouts: (id, path) => call("GET", `/solutions/${id}/runouts?${query({ path })}`),
  preflop: (path, charts) => call("GET", `/preflop?${query({ path, ...charts })}`),
  preflopProgress: (stack) => call("GET", `/preflop/progress?${query({ stack })}`),
  preflopBlueprints: () => call("GET", "/preflop/blueprints"),
  compare: (first, second, path) => call("GET", `/compare?${query({ first, second, path })}`),
  estimateReport: (request) => call("POST", "/reports/estimate", request),
  reportNodes: (spot) => call("POST", "/reports/nodes", spot),
  newReport: (request) => call("POST", "/jobs/report", request),
  report: (id) => call("GET", `/reports/${id}`),
  upload: (name, file) => call("POST", `/solutions/upload?${query({ name })}`, undefined, file),
  playCatalogue: () => call("GET", "/play"),
  newSession: (request) => call("POST", "/play/sessions", request),
  session: (id) => call("GET", `/play/sessions/${id}`),
  move: (id, move) => call("POST", `/play/sessions/${id}/move`, { move }),
  rivals: () => call("GET", "/hands/rivals"),
  newHandSession: (request) => call("POST", "/hands/sessions", request),
  handSession: (id) => call("GET", `/hands/sessions/${id}`),
  handMove: (id, move, seen) => call("POST", `/hands/sessions/${id}/move`, { move, seen }),
  handHint: (id) => call("POST", `/hands/sessions/${id}/hint`),
  forgetSession: (id) => call("DELETE", `/hands/sessions/${id}`),
  sessionHands: (id) => call("GET", `/hands/sessions/${id}/hands`),
  handHistory: () => call("GET", "/hands/history"),
  playedHand: (id) => call("GET", `/hands/played/${id}`),
  reviewHand: (id) => call("POST", `/hands/played/${id}/review`),
  reviewProgress: (id) => call("GET", `/hands/played/${id}/review/progress`),
  spotOfHand: (id, step) => call("GET", `/hands/played/${id}/spot?${query({ step })}`),
  readHands: (name, file) => call("POST", `/hands/files?${query({ name })}`, undefined, file),
  gradeHands: (name, player, file) => call("POST", `/hands/files/grade?${query({ name, player })}`, undefined, file),
  gradedHand: (id, record) => call("GET", `/hands/files/${id}/hand?${query({ record })}`),
  spotOfGraded: (id, { record, step }) => call("GET", `/hands/files/${id}/spot?${query({ record, step })}`),
  learnCatalogue: () => call("GET", "/learn"),
  tree: (game) => call("GET", `/learn/tree?${query({ game })}`),
  race: (request) => call("POST", "/jobs/race", request),
  runs: () => call("GET", "/runs"),
};

// Listens to a job until it ends; returns a function that stops listening.
export function watchJob(id, onprogress, onend) {
  const source = new EventSource(`/api/jobs/${id}/events`);
  source.addEventListener("progress", (event) => onprogress(JSON.parse(event.data)));
  source.addEventListener("end", (event) => {
    source.close();
    onend(JSON.parse(event.data));
  });
  return () => source.close();
}

export function watchRun(name, onrun) {
  const source = new EventSource(`/api/runs/events?${query({ name })}`);
  source.addEventListener("run", (event) => onrun(JSON.parse(event.data)));
  return () => source.close();
}
