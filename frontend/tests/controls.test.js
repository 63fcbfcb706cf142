// What is pasted into a list of phrases.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.addEventListener ??= () => {};
const { phrasesOf } = await import("../editor/controls.js");

test("each line of a column, and each cell of a row, is a phrase", () => {
  assert.deepEqual(phrasesOf("more towels\r\nextra pillow, please\n\n  late checkout \n"), ["more towels", "extra pillow, please", "late checkout"]);
  assert.deepEqual(phrasesOf("towels\tpillows"), ["towels", "pillows"]);
  assert.deepEqual(phrasesOf("one phrase"), ["one phrase"]);
  assert.deepEqual(phrasesOf(" \n\t"), []);
});

test("marks of a list and what shows nothing at the ends are left out, joiners within are kept", () => {
  assert.deepEqual(phrasesOf("\u2022 towels\n- pillows\n\u200btea\u200b\n\ufeffice"), ["towels", "pillows", "tea", "ice"]);
  assert.deepEqual(phrasesOf("weigh-in\n-5 kg\n\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"), ["weigh-in", "-5 kg", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"]);
});
