// What the forms make of values, and the one stretch in which two texts differ.
import assert from "node:assert/strict";
import { test } from "node:test";

import { applied } from "../editor/json-text.js";

// The forms listen to the window once they are loaded.
globalThis.addEventListener ??= () => {};
const { isObject, listOf, orNothing, smallest } = await import("../editor/json-form.js");
const { typeOf } = await import("../editor/tools-form.js");

test("the smallest edit leads from one text to the other", () => {
  const texts = ["", "a", "aa", "aaa", "abc", "abxc", "xabc", "äöü👋", "äöü", "the same end", "another same end"];
  for (const before of texts) {
    for (const after of texts) {
      const edits = smallest(before, after);
      assert.equal(applied(before, edits), after, `${before} to ${after}`);
      assert.equal(edits.length, before === after ? 0 : 1);
    }
  }
  assert.deepEqual(smallest("abc", "abxc"), [{ from: 2, to: 2, insert: "x" }]);
});

test("a schema is of the kind that its control can write", () => {
  const cases = [
    [{ type: "string" }, "string"], [{ type: "string", enum: ["a"] }, "choice"], [{ type: "string", enum: [1] }, "other"],
    [{ type: "string", format: "date" }, "date"], [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "array", items: { type: "integer" } }, "numbers"], [{ type: "array", items: { enum: [1] } }, "other"],
    [{ type: "array" }, "other"], [{ type: "object" }, "group"], [{ anyOf: [] }, "other"], [{ $ref: "#" }, "other"],
    [{}, "other"], [null, "other"], [true, "other"], [[], "other"],
  ];
  for (const [schema, kind] of cases) assert.equal(typeOf(schema), kind, JSON.stringify(schema));
});

test("what is empty is left out, and what is odd is no list", () => {
  assert.deepEqual(["", [], "a", [1], 0, false].map(orNothing), [undefined, undefined, "a", [1], 0, false]);
  assert.deepEqual([undefined, "a", ["a", null, { b: 1 }, 2]].map(listOf), [[], [], ["a", 2]]);
  assert.deepEqual([null, [], {}, 7].map(isObject), [false, false, true, false]);
});
