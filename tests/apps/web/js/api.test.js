import assert from "node:assert/strict";
import { test } from "node:test";

import { installServer } from "./fake-dom.js";
import { api, watchJob } from "#js/api.js";

test("requests go to the API, with their values written safely", async () => {
  const asked = installServer({ "GET /api/solutions/x/node?path=r%3A0%3Ac&values=true": { path: "r:0:c" } });
  assert.deepEqual(await api.node("x", "r:0:c", true), { path: "r:0:c" });
  assert.equal(asked.length, 1);
});

test("refusals say what the server says", async () => {
  installServer({
    "POST /api/holdem/range": { status: 400, json: { detail: "unknown rank" } },
    "POST /api/jobs/solve": { status: 422, json: { detail: [{ loc: ["body", "spot", "pot"], msg: "too small" }] } },
    "GET /api/about": { status: 500, json: null },
  });
  await assert.rejects(api.range("x"), { message: "unknown rank" });
  await assert.rejects(api.solve({}), { message: "pot: too small" });
  await assert.rejects(api.about(), { message: "The server answered 500." });
  globalThis.fetch = async () => {
    throw new TypeError("network");
  };
  await assert.rejects(api.about(), { message: "The server does not answer. Is it still running?" });
});

test("what is deleted has no answer", async () => {
  installServer({ "DELETE /api/jobs/x": { status: 204 } });
  assert.equal(await api.remove("x"), null);
});

test("a job is listened to until it ends", () => {
  const sources = [];
  globalThis.EventSource = class {
    constructor(path) {
      Object.assign(this, { path, listeners: {}, isClosed: false });
      sources.push(this);
    }

    addEventListener(name, listener) {
      this.listeners[name] = listener;
    }

    close() {
      this.isClosed = true;
    }
  };
  const seen = [];
  const onprogress = (report) => seen.push(report);
  watchJob("x", onprogress, (ended) => seen.push(ended.status));
  const [source] = sources;
  source.listeners.progress({ data: '{"last": 1}' });
  source.listeners.end({ data: '{"status": "done"}' });
  assert.deepEqual(seen, [{ last: 1 }, "done"]);
  assert.ok(source.isClosed && source.path === "/api/jobs/x/events");
});
