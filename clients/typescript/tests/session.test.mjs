// A session over a source in memory: hints, one release, the life of a skill in turns, the prompt, the tools.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Session, StudioError } from "../dist/index.js";

const tool = { name: "weight_save", description: "Saves.", args_schema: {}, policy: { kind: "write", requires_approval: true } };

function bundle(id, more = {}) {
  const capability = { capability_id: id, name: id, description: `About ${id}.`, ...more };
  const digest = `sha256:${"0".repeat(64)}`;
  return { capability_id: id, digest, status: "published", replaced_by: null, skill_doc: `# ${id}\n`, tools: [], ui_schemas: [], capability };
}

class Shelf {
  loads = [];

  constructor(...bundles) {
    this.bundles = Object.fromEntries(bundles.map((each) => [each.capability_id, each]));
  }

  async list() {
    return Object.values(this.bundles).map(({ capability, status }) => ({ intent_triggers: [], status, ...capability }));
  }

  async load(id) {
    this.loads.push(id);
    if (!(id in this.bundles)) throw new StudioError(404, { error: { code: "CAPABILITY_NOT_FOUND", message: "No." } });
    return this.bundles[id];
  }

  async match(message) {
    const needed = Object.keys(this.bundles).filter((id) => message.includes(id));
    const matches = needed.map((id) => ({ capability_id: id, score: 0.9, below_threshold: false, matched_triggers: [{ trigger: id }] }));
    return { decision: needed.length ? "match" : "none", reason: "", matches, needed, skill_groups: [], exclusive_groups: [] };
  }
}

test("what a message needs is hinted until it is loaded", async () => {
  const session = new Session(new Shelf(bundle("weights"), bundle("workouts"), bundle("meals")));
  const turn = await session.turn("log my workouts and weights");
  assert.deepEqual(turn.hints.map((hint) => hint.capabilityId), ["weights", "workouts"]);
  assert.match((await session.prompt()).prompt, /load one before you follow it\):\n- weights \(weights\): About weights\. \(because of "weights"\)/);
  await session.load("weights");
  assert.doesNotMatch((await session.prompt()).prompt, /- weights \(weights\): About/);
  assert.deepEqual((await session.turn("nothing")).hints, []);
});

test("a session keeps the release of its first load", async () => {
  const shelf = new Shelf(bundle("weights"));
  const session = new Session(shelf);
  await session.load("weights");
  shelf.bundles.weights = { ...bundle("weights"), skill_doc: "# New\n" };
  session.unload("weights");
  assert.equal((await session.load("weights")).skill_doc, "# weights\n");
  assert.deepEqual(shelf.loads, ["weights"]);
});

test("a skill stays for four turns after its last use, or for its own number", async () => {
  const session = new Session(new Shelf(bundle("weights"), bundle("short", { max_turns: 1 })));
  await session.turn("x");
  await session.load("weights");
  await session.load("short");
  assert.deepEqual((await session.turn("x")).expired, []);
  assert.deepEqual((await session.turn("weights")).expired, ["short"]);
  for (let n = 0; n < 4; n += 1) assert.deepEqual((await session.turn("x")).expired, []);
  assert.deepEqual((await session.turn("x")).expired, ["weights"]);
  assert.deepEqual(session.loaded(), []);
});

test("at most four are active, and the one used longest ago goes", async () => {
  const session = new Session(new Shelf(..."abcde".split("").map((id) => bundle(id))));
  for (const id of "abcde") await session.load(id);
  assert.deepEqual(session.loaded().map((each) => each.capability_id), ["e", "d", "c", "b"]);
});

test("what is not ready is a hint with the fix, and has no tools", async () => {
  const sheets = { ...bundle("sheets", { dependencies: { python: ["openpyxl"] } }), tools: [tool] };
  const session = new Session(new Shelf(sheets, bundle("mac", { os: ["darwin"] })), { environment: { os: "linux" } });
  const turn = await session.turn("sheets on my mac");
  assert.deepEqual(turn.hints.map((hint) => hint.capabilityId), ["sheets"]);
  assert.match(turn.hints[0].line, /\[NEED_SETUP: Missing Python package openpyxl: python -m pip install openpyxl\.\]$/);
  await session.load("sheets");
  assert.deepEqual(await session.tools(), {});
  assert.match((await session.prompt()).prompt, /need something set up first/);
});

test("tools have the names of the prompt", async () => {
  const session = new Session(new Shelf({ ...bundle("weights"), tools: [tool] }));
  await session.load("weights", "of today");
  assert.deepEqual(Object.keys(await session.tools()), ["weights__weight_save"]);
  const { prompt } = await session.prompt();
  assert.match(prompt, /- weights__weight_save \(write, waits for a person's approval\): Saves\./);
  assert.match(prompt, /ARGUMENTS: of today/);
});

test("odd answers end no turn, and another capability is refused", async () => {
  const shelf = new Shelf(bundle("weights"));
  const session = new Session(shelf);
  for (const matches of [5, null, [null, 7, { capability_id: ["weights"] }, { capability_id: "weights", score: "x", matched_triggers: 7 }]]) {
    shelf.match = async () => ({ decision: "match", matches, needed: { a: 1 } });
    await session.turn("x");
  }
  shelf.load = async () => bundle("meals");
  await assert.rejects(session.load("weights"), { code: "RESPONSE_REJECTED" });
  await assert.rejects(new Session(new Shelf()).load("nobody"), { code: "CAPABILITY_NOT_FOUND" });
});
