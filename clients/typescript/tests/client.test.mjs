// Against a running registry: STUDIO_URL and STUDIO_KEY name it; `meals` is damaged there.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createClient, Registry, StudioError } from "../dist/index.js";

const options = { baseUrl: process.env.STUDIO_URL, key: process.env.STUDIO_KEY };
const registry = new Registry(options);

test("the list is whole, however short its pages are", async () => {
  const whole = await registry.list();
  assert.ok(whole.some((each) => each.capability_id === "weights"));
  assert.deepEqual(await registry.list({ limit: 2 }), whole);
});

test("a load has instructions, tools and a digest", async () => {
  const bundle = await registry.load("weights");
  assert.match(bundle.digest, /^sha256:[0-9a-f]{64}$/);
  assert.ok(bundle.skill_doc.startsWith("# "));
  assert.ok(bundle.tools.some((tool) => tool.policy.kind === "write" && tool.policy.requires_approval));
  assert.deepEqual(await registry.load("weights", { digest: bundle.digest }), bundle);
});

test("what there is not is refused with what there is", async () => {
  await assert.rejects(registry.load("nobody"), (error) => {
    assert.ok(error instanceof StudioError);
    assert.equal(error.code, "CAPABILITY_NOT_FOUND");
    assert.equal(error.status, 404);
    assert.ok(error.availableCapabilities.includes("weights"));
    return true;
  });
});

test("a damaged bundle says so", async () => {
  await assert.rejects(registry.load("meals"), { code: "SKILL_MALFORMED", status: 422 });
});

test("messages are matched and words are searched", async () => {
  const answer = await registry.match("I just weighed 187.6 lbs", { top_k: 1 });
  assert.equal(answer.decision, "match");
  assert.equal(answer.matches[0].capability_id, "weights");
  const found = await registry.search("body weight", { top_k: 1 });
  assert.equal(found.results[0].capability_id, "weights");
});

test("a bad key is told", async () => {
  const stranger = new Registry({ ...options, key: "wrong" });
  await assert.rejects(stranger.list(), { code: "UNAUTHENTICATED", status: 401 });
});

test("every other operation is there too", async () => {
  const client = createClient(options);
  const { data, error } = await client.POST("/api/v1/prompt_render", { body: { capability_ids: ["weights"] } });
  assert.equal(error, undefined);
  assert.ok(data.prompt.includes("Weight Tracking"));
});
