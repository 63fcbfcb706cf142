// Against a registry that is wrong in many ways: nothing is used that was not asked for, and nothing is waited for long.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";

import { bundleDigest, createClient, Registry, RegistryUnreachable, ResponseRejected, Session, StudioError } from "../dist/index.js";

const parts = { capability: { capability_id: "weights", name: "Weights" }, skill_doc: "# Weights\n", tools: [], ui_schemas: [] };
let answer;
let asked;
let server;
let baseUrl;

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url);
    answer(request, response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
});

const json = (document, status = 200) => (_request, response) => {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(typeof document === "string" ? document : JSON.stringify(document));
};
const bundle = async (more = {}) => ({ ...parts, capability_id: "weights", digest: await bundleDigest(parts), revision: 1, ...more });
const registry = (options = {}) => new Registry({ baseUrl, ...options });
const rejected = (code) => (error) => error instanceof ResponseRejected && error instanceof StudioError && error.code === code;

test("a bundle that is what its digest names is taken", async () => {
  const right = await bundle();
  answer = json(right);
  assert.deepEqual(await registry().load("weights"), right);
  assert.deepEqual(await registry().load("weights", { digest: right.digest }), right);
});

test("a bundle that is not what its digest names is rejected, in each of its parts", async () => {
  const other = { skill_doc: "# Weights\n\nSend it all.\n", tools: [{ name: "x" }], ui_schemas: [{}], capability: {}, digest: `sha256:${"0".repeat(64)}` };
  for (const [name, value] of Object.entries(other)) {
    answer = json(await bundle({ [name]: value }));
    await assert.rejects(registry().load("weights"), rejected("DIGEST_MISMATCH"), name);
  }
  for (const name of Object.keys(parts)) {
    answer = json(await bundle({ [name]: undefined }));
    await assert.rejects(registry().load("weights"), rejected("DIGEST_MISMATCH"), name);
  }
});

test("another release or another capability than the one that was asked for is rejected", async () => {
  answer = json(await bundle());
  await assert.rejects(registry().load("weights", { digest: `sha256:${"1".repeat(64)}` }), rejected("DIGEST_MISMATCH"));
  await assert.rejects(registry().load("meals"), rejected("ANSWER_REFUSED"));
  const session = new Session(registry());
  await assert.rejects(session.load("meals"), rejected("ANSWER_REFUSED"));
  assert.deepEqual(session.loaded(), []);
});

test("a list whose cursor comes twice ends", async () => {
  answer = json({ capabilities: [], registry_revision: 1, next_cursor: "again" });
  await assert.rejects(registry().list(), rejected("ANSWER_REFUSED"));
  assert.equal(asked.length, 2);
  let page = 0;
  answer = (request, response) => json({ capabilities: [], registry_revision: 1, next_cursor: `page ${(page += 1) % 3}` })(request, response);
  await assert.rejects(registry().list(), rejected("ANSWER_REFUSED"));
});

test("a list without an end ends", async () => {
  let page = 0;
  answer = (request, response) => json({ capabilities: [], registry_revision: 1, next_cursor: `page ${(page += 1)}` })(request, response);
  await assert.rejects(registry().list(), rejected("ANSWER_REFUSED"));
  page = 0;
  await assert.rejects(registry({ listBytesMax: 1000 }).list(), rejected("ANSWER_TOO_LARGE"));
  assert.ok(page < 100);
});

test("a response is read no further than its limit, packed or not", async () => {
  const large = JSON.stringify({ padding: "x".repeat(3_000_000) });
  answer = json(large);
  await assert.rejects(registry({ bytesMax: 1_000_000 }).load("weights"), rejected("ANSWER_TOO_LARGE"));
  answer = (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Encoding": "gzip" });
    response.end(gzipSync(large));
  };
  await assert.rejects(registry({ bytesMax: 1_000_000 }).load("weights"), rejected("ANSWER_TOO_LARGE"));
  let sent = 0;
  answer = (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    const more = () => {
      if (!response.destroyed && response.write("x".repeat(65_536))) setImmediate(more);
      sent += 65_536;
    };
    response.on("drain", more);
    more();
  };
  await assert.rejects(registry({ bytesMax: 1_000_000 }).load("weights"), rejected("ANSWER_TOO_LARGE"));
  assert.ok(sent < 50_000_000);
});

test("a registry that says nothing, or drips, is not waited for", async () => {
  answer = () => {};
  const late = (error) => error instanceof RegistryUnreachable && error.code === "REGISTRY_UNREACHABLE" && /within 0.2 seconds/.test(error.message);
  await assert.rejects(registry({ timeoutMs: 200 }).load("weights"), late);
  answer = (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  await assert.rejects(registry({ timeoutMs: 200 }).load("weights"), late);
  await assert.rejects(createClient({ baseUrl, timeoutMs: 200 }).GET("/api/v1/operator/bundle_list"), late);
});

test("nothing is waited for, whatever the garbage collector has taken meanwhile", { timeout: 20_000 }, async () => {
  setFlagsFromString("--expose-gc");
  const collector = setInterval(runInNewContext("gc"), 50);
  answer = () => {};
  await assert.rejects(registry({ timeoutMs: 300 }).load("weights"), { code: "REGISTRY_UNREACHABLE" });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error("enough")), 300);
  await assert.rejects(registry().load("weights", {}, { signal: controller.signal }), { message: "enough" });
  clearInterval(collector);
});

test("a registry that cannot be reached is an error of its own", async () => {
  const gone = new Registry({ baseUrl: "http://127.0.0.1:9", timeoutMs: 5000 });
  for (const ask of [() => gone.list(), () => gone.load("weights"), () => gone.match("x"), () => gone.search("x")]) {
    await assert.rejects(ask(), (error) => error instanceof RegistryUnreachable && error.status === 0 && error.cause !== undefined);
  }
  answer = (request) => request.socket.destroy();
  await assert.rejects(registry().load("weights"), { code: "REGISTRY_UNREACHABLE" });
  answer = (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
    response.write("{");
    setTimeout(() => response.destroy(), 20);
  };
  await assert.rejects(registry().load("weights"), { code: "REGISTRY_UNREACHABLE" });
});

test("a signal ends each call with its own reason", async () => {
  answer = () => {};
  const calls = {
    list: (signal) => registry().list({}, { signal }),
    load: (signal) => registry().load("weights", {}, { signal }),
    match: (signal) => registry().match("x", {}, { signal }),
    search: (signal) => registry().search("x", {}, { signal }),
    turn: (signal) => new Session(registry()).turn("x", { signal }),
    session: (signal) => new Session(registry()).load("weights", "", { signal }),
  };
  for (const [name, ask] of Object.entries(calls)) {
    const controller = new AbortController();
    const reason = new Error(`enough of ${name}`);
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(ask(controller.signal), (error) => error === reason, name);
    await assert.rejects(ask(AbortSignal.abort(reason)), (error) => error === reason, name);
  }
});

test("what is not the contract's is rejected, never a plain TypeError", async () => {
  const calls = [() => registry().list(), () => registry().load("weights"), () => registry().match("x"), () => registry().search("x")];
  for (const document of ["<html>", "", "[", "null", "7", '"x"', "[]"]) {
    answer = json(document);
    for (const ask of calls) await assert.rejects(ask(), (error) => error instanceof StudioError, document);
  }
  answer = json("<html>", 502);
  await assert.rejects(registry().load("weights"), (error) => error instanceof StudioError && error.status === 502);
});
