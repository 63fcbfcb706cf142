// The builder of a form: what it finds in a definition, and that each change is of exactly its lines.
import assert from "node:assert/strict";
import { test } from "node:test";

import { applied, parse, set, valueOf } from "../editor/json-text.js";

globalThis.addEventListener ??= () => {};
const { FormFields } = await import("../editor/form-fields.js");

const tool = {
  name: "leave_create",
  args_schema: {
    type: "object", required: ["first_day", "kind"],
    properties: {
      first_day: { type: "string", format: "date" }, kind: { type: "string", enum: ["vacation", "parental"] },
      days: { type: "integer" }, note: { type: "string", maxLength: 500 },
    },
  },
};
const input = (id, component, more) => ({ id, component, label: id, value: { path: `/${id}` }, accessibility: { label: id }, ...more });
const ENTRY = [{
  schema_id: "LeaveForm.v1",
  definition: {
    components: [
      { id: "root", component: "Column", children: ["title", "first_day", "days", "note", "actions"] },
      { id: "title", component: "Text", text: "Leave", variant: "h2" },
      input("first_day", "DateTimeInput", { enableDate: true }), input("days", "TextField", { variant: "number" }), input("note", "TextField", {}),
      { id: "actions", component: "Row", children: ["cancel", "send"] },
      { id: "cancel", component: "Button", child: "cancel_label", action: { event: { name: "cancel" } } },
      { id: "cancel_label", component: "Text", text: "Cancel" },
      { id: "send", component: "Button", child: "send_label", variant: "primary", action: { event: { name: "send", context: { first_day: { path: "/first_day" }, days: { path: "/days" }, note: { path: "/note" } } } } },
      { id: "send_label", component: "Text", text: "Send" },
    ],
    dataModel: { first_day: "", days: "", note: "" },
  },
}];
const TEXT = `${JSON.stringify(ENTRY, null, 2)}\n`;
const read = (text) => new FormFields(valueOf(parse(text))[0].definition, [0, "definition"], { send: tool });

function changed(text, changes) {
  let now = text;
  for (const change of changes) now = applied(now, typeof change === "function" ? change(now, parse(now)) : set(now, parse(now), ...change));
  return now;
}

// The lines that only one of two texts has.
function lines(before, after) {
  const [a, b] = [before.split("\n"), after.split("\n")];
  return { gone: a.filter((row) => !b.includes(row)).map((row) => row.trim()), come: b.filter((row) => !a.includes(row)).map((row) => row.trim()) };
}

const field = (form, id) => form.fields.find((one) => one.id === id);

test("fields are in the order in which they are drawn, with what the tool says of them", () => {
  const form = read(TEXT);
  assert.deepEqual(form.fields.map((one) => [one.id, one.name, one.isRequired]), [["first_day", "first_day", true], ["days", "days", false], ["note", "note", false]]);
  assert.deepEqual(form.hidden().map((one) => [one.name, one.isRequired]), [["kind", true]]);
  assert.deepEqual(form.buttons.map((one) => one.label.text), ["Cancel", "Send"]);
});

test("a label changes its own lines", () => {
  const form = read(TEXT);
  assert.deepEqual(lines(TEXT, changed(TEXT, form.label(field(form, "days"), "How many days"))), {
    gone: ['"label": "days",', '"label": "days"'], come: ['"label": "How many days",', '"label": "How many days"'],
  });
});

test("a field moves, and its help with it", () => {
  let form = read(TEXT);
  const helped = changed(TEXT, form.helpText(field(form, "days"), "Half days count."));
  form = read(helped);
  assert.equal(field(form, "days").help.text, "Half days count.");
  const moved = changed(helped, [form.move(field(form, "days"), -1)]);
  assert.deepEqual(valueOf(parse(moved))[0].definition.components[0].children, ["title", "days", "days_help", "first_day", "note", "actions"]);
  assert.equal(moved.split("\n").length, helped.split("\n").length);
  form = read(moved);
  assert.equal(form.neighbour(field(form, "days"), -1), undefined);
  assert.equal(changed(moved, [form.move(field(form, "days"), 1)]), helped);
  assert.equal(changed(helped, read(helped).helpText(field(read(helped), "days"), "")), TEXT);
});

test("a field is hidden and shown again", () => {
  let form = read(TEXT);
  const without = changed(TEXT, form.hide(field(form, "note")));
  form = read(without);
  assert.deepEqual(form.fields.map((one) => one.id), ["first_day", "days"]);
  const note = form.hidden().find((one) => one.name === "note");
  const shown = read(changed(without, form.show(note, "Note")));
  assert.deepEqual(shown.fields.map((one) => one.id), ["first_day", "days", "note"]);
  assert.equal(field(shown, "note").one.variant, "longText");
  const kind = form.hidden().find((one) => one.name === "kind");
  const all = valueOf(parse(changed(without, form.show(kind, "Kind"))))[0].definition;
  assert.deepEqual(all.components.at(-1).options.map((one) => one.label), ["Vacation", "Parental"]);
  assert.deepEqual(all.dataModel.kind, []);
  assert.deepEqual(all.components.find((one) => one.id === "send").action.event.context.kind, { path: "/kind" });
});

test("what a field begins with is one line", () => {
  const form = read(TEXT);
  assert.deepEqual(lines(TEXT, changed(TEXT, form.initial(field(form, "days"), "2"))), { gone: ['"days": "",'], come: ['"days": "2",'] });
});

test("any definition is read", () => {
  for (const odd of [undefined, null, 1, [], {}, { components: 3 }, { components: [1, {}, { id: "root", children: ["root", "x"] }] }, { components: [{ id: "root", child: "root" }] }]) {
    const form = new FormFields(odd, [], {});
    assert.deepEqual([form.fields, form.hidden()], [[], []]);
  }
});
