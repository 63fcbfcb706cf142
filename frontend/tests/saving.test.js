// What is unsaved, when it is saved by itself, and the copies that a browser keeps of it.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

class Storage {
  setItem(key, value) {
    if (String(value).length > 100_000) throw new Error("full");
    this[key] = String(value);
  }

  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }

  removeItem(key) {
    delete this[key];
  }
}

// Node's own has locks as well, from 24 on: a test holds none.
Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
globalThis.addEventListener ??= () => {};
globalThis.localStorage = new Storage();
const { Copies } = await import("../editor/copies.js");
const { Saving } = await import("../editor/saving.js");

// As the constructor leaves it, for a page with two files; the page itself is what a browser test has.
function saving(...texts) {
  const documents = texts.map((text, index) => ({ name: `file${index}`, text }));
  const one = Object.create(Saving.prototype);
  const form = { querySelector: (what) => (what === "[name=based_on]" ? { value: "3" } : { textContent: "" }) };
  let clicks = 0;
  const saveButton = { click: () => (clicks += 1) };
  Object.assign(one, {
    editor: { documents }, form, saveButton, copies: new Copies("ada", "alpha"), saved: [...texts], base: [...texts],
    leaving: { isSent: () => false }, sent: null, goesTo: "", tab: null, isRefused: false, isByItself: false, isStale: false, failures: 0, timer: 0, copyTimer: 0, isAutomatic: true,
  });
  return { one, documents, clicks: () => clicks };
}

const kept = (key) => JSON.parse(localStorage.getItem(key));

beforeEach(() => {
  globalThis.localStorage = new Storage();
  mock.timers.reset();
});

test("unsaved is what differs from what the server has", () => {
  const { one, documents } = saving("a", "b");
  assert.equal(one.isDirty(), false);
  documents[1].text = "B";
  assert.equal(one.isDirty(), true);
  documents[1].text = "b";
  assert.equal(one.isDirty(), false);
  one.saved = null;
  assert.equal(one.isDirty(), true, "nothing was ever saved");
});

test("it saves by itself once nobody has typed for a while, and once alone", () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const { one, documents, clicks } = saving("a", "b");
  documents[0].text = "A";
  one.changed();
  mock.timers.tick(2000);
  one.changed();
  mock.timers.tick(2000);
  assert.equal(clicks(), 0, "somebody is still typing");
  mock.timers.tick(2000);
  assert.equal(clicks(), 1);
  assert.equal(one.isByItself, true);
});

test("it does not save by itself what is saved, stale, on its way or not asked for", () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const states = [{}, { isStale: true, saved: ["x", "b"] }, { sent: ["a", "b"], saved: ["x", "b"] }, { isAutomatic: false, saved: ["x", "b"] }];
  for (const state of states) {
    const { one, clicks } = saving("a", "b");
    Object.assign(one, state);
    one.byItself();
    assert.equal(clicks(), 0, JSON.stringify(state));
  }
});

test("a copy holds the changed files with what they were based on, and goes with the last change", () => {
  const { one, documents } = saving("a", "b");
  documents[1].text = "B";
  one.copy();
  const copy = kept(one.copies.key);
  assert.deepEqual([copy.texts, copy.base, copy.basedOn], [{ file1: "B" }, { file1: "b" }, "3"]);
  documents[1].text = "b";
  one.copy();
  assert.equal(kept(one.copies.key), null);
});

test("where storage is nearly full the text counts more than what it was based on", () => {
  const { one, documents } = saving("a".repeat(60_000), "b");
  documents[0].text = "A".repeat(60_000);
  one.copy();
  const copy = kept(one.copies.key);
  assert.deepEqual([copy.base, copy.texts.file0.length], [{}, 60_000]);
  documents[0].text = "A".repeat(200_000);
  one.copy();
  assert.equal(kept(one.copies.key), null, "better no copy than an old one");
  assert.equal(one.copies.isFull, true);
});

test("copies that were left behind are found, the newest first, and odd ones are dropped", async () => {
  const copies = new Copies("ada", "alpha");
  const put = (key, value) => localStorage.setItem(`unsaved/${key}`, typeof value === "string" ? value : JSON.stringify(value));
  put("ada/alpha/1", { texts: { a: "old" }, base: {}, at: 1 });
  put("ada/alpha/2", { texts: { a: "new" }, base: {}, at: 2 });
  for (const [number, odd] of ["{", { texts: 7, base: {}, at: 1 }, { texts: { a: 1 }, base: {}, at: 1 }, { texts: {}, base: {} }].entries()) {
    put(`ada/alpha/odd${number}`, odd);
  }
  put("eve/alpha/1", { texts: { a: "another's" }, base: {}, at: 3 });
  copies.keep({ texts: { a: "its own" }, base: {} });
  const found = await copies.leftBehind();
  assert.deepEqual(found.map((one) => one.texts.a), ["new", "old"]);
  assert.deepEqual(Object.keys(localStorage).filter((key) => key.includes("odd")), []);
});

test("a refused save saves nothing, though the page that says why was fetched", () => {
  const { one, documents } = saving("a");
  one.askAsWhom = () => {};
  documents[0].text = "A";
  one.sent = ["A"];
  one.goesTo = "/elsewhere/";
  one.answered({ successful: true, xhr: { status: 422, responseText: "" } });
  assert.equal(one.isDirty(), true);
  assert.deepEqual([one.goesTo, one.canSave()], ["", false]);
  one.changed();
  clearTimeout(one.timer);
  clearTimeout(one.copyTimer);
  assert.equal(one.canSave(), true, "another text may be saved");
});
