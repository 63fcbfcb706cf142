// skill.md as stretches of its text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isNamed, outline, placeFor, sectionText } from "../editor/skill-text.js";

const TEXT = `---
name: x
---
# Sleep log

What it is for.

## When to use

When somebody slept.

\`\`\`
## No heading
\`\`\`

<!--
## None either
-->

## Steps

### 1. Ask

**Do:** Ask when.
**Check:** It is a time.
**Say:** Thank you.

Later
-----

## Empty
`;

const words = ({ from, to }) => TEXT.slice(from, to);

test("title, intro and sections stand where they are written", () => {
  const found = outline(TEXT);
  assert.equal(found.title.text, "Sleep log");
  assert.equal(words(found.title), "Sleep log");
  assert.equal(words(found.intro), "What it is for.");
  assert.deepEqual(found.sections.map((one) => one.title), ["When to use", "Steps", "Later", "Empty"]);
  assert.ok(words(found.sections[0].body).startsWith("When somebody slept."));
  assert.ok(words(found.sections[0].body).endsWith("-->"), "fences and comments belong to the section");
  assert.equal(words(found.sections[3].body), "");
});

test("what is no skill doc has no sections and no fault", () => {
  for (const text of ["", "\n\n", "---\nnever closed", "```\n## x", "<!-- ## x", "plain"]) {
    assert.deepEqual(outline(text).sections, [], text);
    assert.equal(outline(text).title, undefined, text);
  }
});

test("a missing section goes where its profile has it", () => {
  const required = ["When to use", "Prerequisites", "Steps"].map((name) => ({ name, also: name === "Steps" ? ["How"] : [] }));
  const found = outline(TEXT);
  const at = placeFor(found, required, required[1], TEXT.length);
  assert.equal(at, found.sections[1].start);
  const after = TEXT.slice(0, at) + sectionText(TEXT, at, "Prerequisites", "None.") + TEXT.slice(at);
  assert.deepEqual(outline(after).sections.map((one) => one.title), ["When to use", "Prerequisites", "Steps", "Later", "Empty"]);
  assert.equal(placeFor(found, required, required[2], TEXT.length), TEXT.length);
  assert.equal(sectionText("", 0, "A", "b"), "## A\n\nb\n");
  assert.ok(isNamed(" how ", required[2]));
  assert.ok(!isNamed("Later", required[2]));
});
