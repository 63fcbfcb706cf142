// Completion and help from the schemas, at a place in a real editor's state.
import assert from "node:assert/strict";
import { test } from "node:test";

import { CompletionContext } from "@codemirror/autocomplete";
import { json } from "@codemirror/lang-json";
import { EditorState } from "@codemirror/state";

import { completions, helpAt, schemaAt } from "../editor/hints.js";

const TOOLS = {
  if: { type: "object" },
  then: {},
  else: { items: { $ref: "#/$defs/tool" } },
  $defs: {
    tool: {
      properties: {
        name: { type: "string", description: "What it is called." },
        policy: { properties: { kind: { enum: ["read", "write"], description: "What it does." }, requires_approval: { type: "boolean" } } },
        args_schema: {},
        ui: { properties: { form: { type: "string" } } },
      },
    },
  },
};
const FACTS = {
  schemas: { "tools.json": TOOLS },
  tools: () => ["weight_save"],
  forms: () => ["WeightForm.v1"],
  toolNamed: (name) => (name === "weight_save" ? { name, policy: { kind: "write" } } : undefined),
  formNamed: (name) => (name === "WeightForm.v1" ? { title: "Weight" } : undefined),
  profile: () => "playbook",
  sections: () => [{ name: "When to use", also: [], hint: "Say when." }],
};

// The place is marked by a bar.
function at(marked, file = "tools.json") {
  const pos = marked.indexOf("|");
  const state = EditorState.create({ doc: marked.replace("|", ""), extensions: file.endsWith(".json") ? [json()] : [] });
  return { state, pos };
}

function offered(marked, { file = "tools.json", explicit = true } = {}) {
  const { state, pos } = at(marked, file);
  return completions(new CompletionContext(state, pos, explicit), file, FACTS)?.options.map((one) => one.label) ?? null;
}

test("keys that are not there yet are offered", () => {
  assert.deepEqual(offered('[{"name": "a", "|"}]'), ['"policy"', '"args_schema"', '"ui"']);
  assert.deepEqual(offered('[{"policy": {"ki|"}}]'), ['"kind"', '"requires_approval"']);
  assert.equal(offered("[{|}]", { explicit: false }), null);
});

test("values are offered where the schema knows them", () => {
  assert.deepEqual(offered('[{"policy": {"kind": "|"}}]'), ['"read"', '"write"']);
  assert.deepEqual(offered('[{"policy": {"requires_approval": true|}}]'), ["true", "false"]);
  assert.deepEqual(offered('[{"ui": {"form": "|"}}]'), ['"WeightForm.v1"']);
  assert.equal(offered('[{"name": "|"}]'), null);
});

test("inside a tool's own schema that is JSON Schema itself", () => {
  assert.ok(offered('[{"args_schema": {"type": "|"}}]').includes('"integer"'));
  assert.ok(offered('[{"args_schema": {"properties": {"kilos": {"|"}}}}]').includes('"minimum"'));
  assert.equal(schemaAt(TOOLS, [0, "args_schema", "properties", "any name", "description"]).description, "Description for the agent.");
  assert.equal(schemaAt(TOOLS, [0, "nothing"]), undefined);
});

test("in skill.md sections and names are offered", () => {
  assert.deepEqual(offered("# A\n\n## Wh|", { file: "skill.md" }), ["When to use"]);
  assert.deepEqual(offered("Call `wei|", { file: "skill.md" }), ["weight_save", "WeightForm.v1"]);
  assert.deepEqual(offered("Call @wei|", { file: "skill.md" }), ["weight_save", "WeightForm.v1"]);
  assert.equal(offered("ann@wei|", { file: "skill.md" }), null, "an address of mail");
  assert.equal(offered("Plain wor|", { file: "skill.md" }), null);
  assert.equal(offered("and/or|", { file: "skill.md" }), null);
  assert.deepEqual(offered("# A\n\n/|", { file: "skill.md" }).slice(0, 3), ["When to use", "Step", "Heading"]);
  assert.deepEqual(offered("## When to use\n\n/|", { file: "skill.md" }).slice(0, 2), ["Step", "Heading"], "what is there is not missing");
});

test("help is told for a key and for its value, and nowhere else", () => {
  const help = (marked) => {
    const { state, pos } = at(marked);
    return helpAt(state, pos, "tools.json", FACTS)?.words ?? null;
  };
  assert.equal(help('[{"na|me": "a"}]'), "What it is called.");
  assert.equal(help('[{"policy": {"kind": "re|ad"}}]'), "What it does. One of: read, write.");
  assert.equal(help('[{"odd|": 1}]'), null);
  assert.equal(help("[|]"), null);
  const { state, pos } = at('{"na|me": 1}');
  assert.equal(helpAt(state, pos, "capability.json", FACTS), null, "without a schema of the file");
});
