// The edits that lead back from a change, and where they stand after what is typed since.
import assert from "node:assert/strict";
import { test } from "node:test";

import { applied } from "../editor/json-text.js";

globalThis.addEventListener ??= () => {};
const { follow, wayBack } = await import("../editor/undo.js");

test("the way back leads to the first text, letter for letter", () => {
  for (const texts of [["abc", "ac"], ["a", ""], ["", "a"], ["## A\n\n## B\n", "## B\n"], ["a1b2c", "ab2c", "abc"], ["abc", "abd", "xbd"], ["aaaa", "aa", "aaa"], ["same", "same"]]) {
    assert.equal(applied(texts.at(-1), wayBack(texts)), texts[0], texts.join(" > "));
  }
});

test("two changes leave what is between them to be typed in", () => {
  const edits = wayBack(["a1bcd2e", "abcd2e", "abcde"]);
  assert.equal(edits.length, 2);
  assert.equal(applied("abXde", follow(edits, "abcde", "abXde")), "a1bXd2e");
});

test("an edit before moves the place, one behind does not", () => {
  const edits = wayBack(["one two three", "one three"]);
  for (const [now, wanted] of [["ONE three", "ONE two three"], ["one three!", "one two three!"], ["0 one three", "0 one two three"]]) {
    assert.equal(applied(now, follow(edits, "one three", now)), wanted);
  }
});

test("a place that is gone cannot be followed", () => {
  const edits = wayBack(["one two three", "one three"]);
  assert.equal(follow(edits, "one three", "another"), null);
  assert.equal(follow(null, "a", "b"), null);
});
