// What lines of the instructions are.
import assert from "node:assert/strict";
import { test } from "node:test";

import { calledIn, described, leadOf, speakerOf } from "../editor/prose-text.js";

test("a speaker differs from words that only look like one", () => {
  for (const [line, role] of [
    ["**User:** hello", "user"], ["**Agent**: hello", "agent"], ["__Customer:__ x", "user"], ["assistant: x", "agent"], ["**Tool:** `x`", "call"],
    ["Tool: pandas", undefined], ["Users: x", undefined], ["**User** says", undefined], ["**User: x", undefined], ["User hello:", undefined],
  ]) assert.equal(speakerOf(line)?.role, role, line);
  assert.equal("**User:** hello".slice(speakerOf("**User:** hello").length), "hello");
});

test("what stands before the words of a line stays", () => {
  for (const [line, words] of [["- What", "What"], ["**User:** what", "what"], ["- **Do:** it", "it"], ["12. x", "x"], ["x: y", "x: y"]]) {
    assert.equal(line.slice(leadOf(line)), words);
  }
});

test("a call names its tool", () => {
  for (const [code, name] of [["a_get", "a_get"], ["a_get(x=1)", "a_get"], ["Form.v1", "Form.v1"], ["a b", ""], ["(x)", ""], ["", ""]]) assert.equal(calledIn(code), name);
});

test("a chip says what a call may do", () => {
  const facts = {
    toolNamed: (name) => ({ a: { policy: { kind: "write", requires_approval: true } }, b: {} })[name],
    formNamed: (name) => (name === "F.v1" ? { title: "T" } : undefined),
  };
  assert.deepEqual([described(facts, "a").kind, described(facts, "a").words.length], ["write", 2]);
  assert.deepEqual([described(facts, "b").kind, described(facts, "b").words.length], ["read", 1]);
  assert.deepEqual([described(facts, "F.v1").kind, described(facts, "F.v1").about], ["form", "T"]);
  assert.equal(described(facts, "c"), undefined);
});
