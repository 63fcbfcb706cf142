// Where each value of a JSON text stands, and the smallest edit that changes one.
import assert from "node:assert/strict";
import { test } from "node:test";

import { applied, get, JsonFault, nodeAt, parse, rename, set, swap, valueOf } from "../editor/json-text.js";

const TEXT = `{
  "name": "Weights",
  "tags": ["a", "b", "c"],
  "big": 12345678901234567890,
  "inner": {"deep": [1, {"x": null}]}
}
`;

const changed = (text, path, value) => applied(text, set(text, parse(text), path, value));

test("a value stands where its node says", () => {
  const root = parse(TEXT);
  const at = (path) => {
    const { start, end } = nodeAt(root, path);
    return TEXT.slice(start, end);
  };
  assert.equal(at(["name"]), '"Weights"');
  assert.equal(at(["tags", 1]), '"b"');
  assert.equal(at(["inner", "deep", 1]), '{"x": null}');
  assert.equal(nodeAt(root, ["tags", 9]), undefined);
  assert.equal(nodeAt(root, ["name", "x"]), undefined);
  assert.deepEqual(get(root, ["inner"]), { deep: [1, { x: null }] });
});

test("it reads what JSON.parse reads, and refuses what that refuses", () => {
  for (const text of [TEXT, "7", '"\\u00e9\\n"', "[]", "{}", " [1, -2.5e3, true, null] ", '{"__proto__": {"a": 1}}']) {
    assert.deepEqual(JSON.stringify(valueOf(parse(text))), JSON.stringify(JSON.parse(text)), text);
  }
  for (const text of ["", "{", "[1,]", "{'a': 1}", "01", "[1] 2", '{"a" 1}', '"\n"', "nul", "[".repeat(200)]) {
    assert.throws(() => parse(text), JsonFault, text);
  }
});

test("a fault says where it is", () => {
  for (const [text, offset] of [['{"a": }', 6], ["[1 2]", 3], ["[1] x", 4], ['{"a": 1', 7], ["{a: 1}", 1]]) {
    assert.throws(() => parse(text), (fault) => fault.offset === offset, text);
  }
});

test("an edit leaves everything else as it was written", () => {
  assert.equal(changed(TEXT, ["name"], "Kilos"), TEXT.replace("Weights", "Kilos"));
  assert.equal(changed(TEXT, ["tags", 1], "B"), TEXT.replace('"b"', '"B"'));
  assert.ok(changed(TEXT, ["name"], "x").includes("12345678901234567890"), "a number too long for a script");
});

test("what is put, added and taken out is there afterwards, and alone has changed", () => {
  const cases = [[["new"], { a: [1] }], [["tags", 0], undefined], [["tags", 2], undefined], [["name"], undefined], [["made", "on", "the way"], 1], [["inner", "deep", 1, "x"], "y"]];
  for (const [path, value] of cases) {
    const before = JSON.parse(TEXT);
    const after = JSON.parse(changed(TEXT, path, value));
    const inText = changed(TEXT, path, value);
    if (value !== undefined) assert.deepEqual(get(parse(inText), path), value, path.join("/"));
    for (const key of Object.keys(before)) {
      if (key !== path[0]) assert.deepEqual(after[key], before[key], path.join("/"));
    }
  }
  assert.deepEqual(JSON.parse(changed(TEXT, ["tags", 0], undefined)).tags, ["b", "c"]);
  assert.ok(!("name" in JSON.parse(changed(TEXT, ["name"], undefined))));
  assert.deepEqual(JSON.parse(changed("{}", ["a"], 1)), { a: 1 });
  assert.deepEqual(JSON.parse(changed('{"a": 1}', ["a"], undefined)), {});
});

test("a key gets another name, and neighbours change places", () => {
  assert.equal(applied(TEXT, rename(parse(TEXT), ["name"], 'a"b')), TEXT.replace('"name"', '"a\\"b"'));
  assert.deepEqual(rename(parse(TEXT), ["gone"], "x"), []);
  const swapped = applied(TEXT, swap(TEXT, parse(TEXT), ["tags"], 2, 0));
  assert.equal(swapped, TEXT.replace('"a", "b", "c"', '"c", "b", "a"'));
  const uneven = '["a", {"longer": "one"}, 3]';
  assert.equal(applied(uneven, swap(uneven, parse(uneven), [], 0, 1)), '[{"longer": "one"}, "a", 3]');
  assert.deepEqual(swap(TEXT, parse(TEXT), ["tags"], 0, 7), []);
});
