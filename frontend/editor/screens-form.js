// ui_schemas.json as a list of forms, and a button that makes one from a tool.
import { button, choice, group, text } from "./controls.js";
import { h } from "./dom.js";
import { isObject, JsonForm, orNothing } from "./json-form.js";
import { nodeAt, pointerOf } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

export class ScreensForm extends JsonForm {
  constructor(document, root, editor) {
    super(document, root, editor, "[]\n");
  }

  content(tree) {
    const isMap = tree.type === "object";
    const entries = this.entries();
    return [
      this.make(),
      entries.length ? null : h("p", { class: "empty" }, gettext("No forms yet. A form lets users fill in the arguments of a tool.")),
      ...entries.map((entry) => this.entry(entry, isMap)),
    ].filter(Boolean);
  }

  entries() {
    const written = this.tree && this.get([]);
    const entries = isObject(written)
      ? Object.entries(written).map(([schema_id, definition]) => ({ schema_id, definition, path: [schema_id] }))
      : listOfAll(written).map((one, index) => ({ ...(isObject(one) ? one : {}), path: [index] }));
    return entries.map((entry) => ({ ...entry, part: pointerOf(entry.path) }));
  }

  // The entry that a finding is about.
  partOf({ field }) {
    return field ? `/${field.split("/")[1]}` : "";
  }

  // The id of the form that the outline names.
  idOf(part) {
    return this.entries().find((entry) => entry.part === part)?.schema_id;
  }

  make() {
    const tools = this.editor.facts().tools();
    if (!tools.length) return h("p", { class: "field__hint" }, gettext("Add a tool to generate a form from it."));
    this.chosen = tools.includes(this.chosen) ? this.chosen : tools[0];
    return group(gettext("Generate from tool"), gettext("One field per argument. Edit it afterwards."),
      h("div", { class: "inline-fields" },
        choice(gettext("Tool"), this.chosen, tools.map((name) => [name, name]), { at: "make-from", changed: (now) => { this.chosen = now; } }),
        button(gettext("Generate"), () => this.editor.makeForm(this.chosen), { kind: "btn--primary", at: "make" })));
  }

  entry(entry, isMap) {
    const { path } = entry;
    const components = entry.definition?.components;
    const calls = isObject(entry.actions) ? Object.values(entry.actions).map((one) => one?.tool).filter(Boolean) : [];
    const places = () => {
      const node = nodeAt(this.tree, path);
      const before = this.document.text.slice(0, node?.start ?? 0).split("\n");
      return { file: this.document.name, line: before.length, column: before.at(-1).length + 1 };
    };
    const write = (key) => (now) => this.write([[...path, key], orNothing(now)]);
    return h("section", { class: "form-group screen", "data-field": pointerOf(path) },
      h("h3", {}, h("code", {}, entry.schema_id ?? gettext("No ID")), calls.map((name) => h("span", { class: "badge" }, interpolate(gettext("Calls %(name)s"), { name }, true)))),
      isMap ? null : h("div", { class: "two-fields" },
        text(gettext("Title"), entry.title, { at: `${path}.title`, writes: [...path, "title"], most: 120, changed: write("title") }),
        text(gettext("Description"), entry.description, { at: `${path}.description`, writes: [...path, "description"], most: 500, changed: write("description") })),
      h("div", { class: "row" },
        button(gettext("Preview form"), () => this.editor.showForm(entry.schema_id)),
        button(gettext("Edit code"), () => this.editor.goTo(places())),
        button(gettext("Remove"), () => this.remove(gettext("Form removed"), [path, undefined]))));
  }
}

const listOfAll = (value) => (Array.isArray(value) ? value : []);
