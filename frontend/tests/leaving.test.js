// What is sent along when the editor is left, and which links wait for a save.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

let requests = [];
// Node has its own from version 21 on.
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
globalThis.addEventListener ??= () => {};
globalThis.document ??= { addEventListener: () => {} };
globalThis.window ??= { addEventListener: () => {} };
globalThis.fetch = (url, options) => {
  requests.push([url, Object.fromEntries(options.body), options.keepalive]);
  return new Promise(() => {});
};
const { Leaving, leadsAway } = await import("../editor/leaving.js");
const { Saving } = await import("../editor/saving.js");

function saving(saved, texts) {
  const one = Object.create(Saving.prototype);
  const form = { querySelector: (what) => ({ value: what.slice(6, -1) }) };
  const documents = texts.map((text, index) => ({ name: `file${index}`, text, field: `field_${index}` }));
  Object.assign(one, {
    form, saved, editor: { documents }, sent: null, failures: 0, isStale: false, isRefused: false, isAutomatic: true,
    saveButton: { getAttribute: () => "/save/" },
  });
  one.leaving = new Leaving(one);
  return one;
}

beforeEach(() => {
  requests = [];
});

test("what was changed is sent once, with what it was based on and who typed it", () => {
  const one = saving(["a", "b"], ["a", "B"]);
  assert.equal(one.leaving.send(), true);
  assert.equal(one.leaving.send(), true, "it is on its way");
  const body = { csrfmiddlewaretoken: "csrfmiddlewaretoken", typed_by: "typed_by", based_on: "based_on", only_changed: "yes", field_1: "B" };
  assert.deepEqual(requests, [["/save/", body, true]]);
  one.editor.documents[1].text = "BB";
  assert.equal(one.leaving.isSent(), false);
});

test("nothing is sent of what is saved, and nothing where a save was refused, failed or is not wanted", () => {
  assert.equal(saving(["a"], ["a"]).leaving.send(), true);
  for (const state of [{ isStale: true }, { isRefused: true }, { failures: 1 }, { isAutomatic: false }, { sent: ["x"] }]) {
    const one = Object.assign(saving(["a"], ["A"]), state);
    assert.equal(one.leaving.send(), false, JSON.stringify(state));
  }
  assert.deepEqual(requests, []);
});

test("a text that is larger than what a page may send while it goes is not sent", () => {
  assert.equal(saving(["a"], ["A".repeat(59_000)]).leaving.send(), false);
  assert.equal(saving(["a"], ["\u00e4".repeat(29_000)]).leaving.send(), false, "bytes count, not letters");
  assert.equal(saving(["a"], ["A".repeat(57_000)]).leaving.send(), true);
});

test("a link to the same page does not lead away", () => {
  const here = "https://studio.example/edit/?file=a#x";
  const cases = { "/edit/?file=a#y": false, "/edit/?file=b": true, "/edit/?file=a": true, "/": true, "https://other.example/": false };
  for (const [to, isAway] of Object.entries(cases)) assert.equal(leadsAway(new URL(to, here).href, here), isAway, to);
});
