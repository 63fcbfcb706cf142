// ui_schemas.json as a list of forms, a button that makes one from a tool, and a builder for each: a card for every field.
import { button, choice, group, text, tick } from "./controls.js";
import { h } from "./dom.js";
import { FormFields, titled } from "./form-fields.js";
import { isObject, JsonForm, orNothing } from "./json-form.js";
import { nodeAt, pointerOf } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

export class ScreensForm extends JsonForm {
  constructor(document, root, editor) {
    super(document, root, editor, "[]\n");
    // The cards that are unfolded, by form and field.
    this.unfolded = new Set();
  }

  content(tree) {
    const isMap = tree.type === "object";
    const entries = this.entries();
    const shown = this.ofPart(entries);
    if (this.editor.part && shown.length === 1) return [this.builder(shown[0], isMap)];
    return [
      this.make(),
      entries.length ? null : h("p", { class: "empty" }, gettext("No forms yet. A form lets users fill in the arguments of a tool.")),
      ...entries.map((entry) => this.entry(entry, isMap)),
    ].filter(Boolean);
  }

  entries(written = this.tree && this.get([])) {
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
    return this.entries(this.editor.value(this.document.name, [])).find((entry) => entry.part === part)?.schema_id;
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
    const { path, part } = entry;
    return h("section", { class: "form-group screen", "data-field": pointerOf(path) },
      this.head(entry), isMap ? null : this.words(entry),
      h("div", { class: "row" },
        button(gettext("Edit form"), () => this.editor.choose({ file: this.document.name, part }), { kind: "btn--primary", label: interpolate(gettext("Edit form %(name)s"), { name: entry.schema_id }, true) }),
        button(gettext("Preview form"), () => this.editor.showForm(entry.schema_id)),
        this.toCode(entry),
        button(gettext("Remove"), () => this.remove(gettext("Form removed"), [path, undefined]))));
  }

  head(entry) {
    const calls = Object.values(this.actionsOf(entry)).map((one) => one?.tool).filter(Boolean);
    return h("h3", {}, h("code", {}, entry.schema_id ?? gettext("No ID")), calls.map((name) => h("span", { class: "badge" }, interpolate(gettext("Calls %(name)s"), { name }, true))));
  }

  actionsOf(entry) {
    return isObject(entry.actions) ? entry.actions : {};
  }

  words({ path, title, description }) {
    const write = (key) => (now) => this.write([[...path, key], orNothing(now)]);
    return h("div", { class: "two-fields" },
      text(gettext("Title"), title, { at: `${path}.title`, writes: [...path, "title"], most: 120, changed: write("title") }),
      text(gettext("Description"), description, { at: `${path}.description`, writes: [...path, "description"], most: 500, changed: write("description") }));
  }

  toCode({ path }) {
    const place = () => {
      const node = nodeAt(this.tree, path);
      const before = this.document.text.slice(0, node?.start ?? 0).split("\n");
      return { file: this.document.name, line: before.length, column: before.at(-1).length + 1 };
    };
    return button(gettext("Edit code"), () => this.editor.goTo(place()));
  }

  // What is drawn now: typing changes the text without drawing anew.
  read(path) {
    const entry = this.entries().find((one) => pointerOf(one.path) === pointerOf(path));
    const isMap = this.tree.type === "object";
    const tools = this.editor.tools();
    const called = Object.fromEntries(Object.entries(this.actionsOf(entry)).map(([name, one]) => [name, tools.find((tool) => tool?.name === one?.tool)]).filter(([, tool]) => tool));
    return new FormFields(entry.definition, isMap ? path : [...path, "definition"], called);
  }

  builder(entry, isMap) {
    const { path } = entry;
    const form = this.read(path);
    const hidden = form.hidden();
    const heading = form.drawn.find(({ one }) => one.component === "Text" && /^h[1-6]$/.test(one.variant ?? "") && typeof one.text === "string")?.one;
    return h("section", { class: "screen", "data-field": pointerOf(path) },
      h("div", { class: "group-head" }, this.head(entry), this.toCode(entry)),
      isMap ? null : this.words(entry),
      heading ? text(gettext("Heading"), heading.text, { at: `${path}.heading`, writes: form.pathOf(heading.id, "text"), changed: (now) => this.write([form.pathOf(heading.id, "text"), now]), help: gettext("What users read at the top of the form.") }) : null,
      group(gettext("Fields"), "",
        form.fields.length ? null : h("p", { class: "field__hint" }, gettext("This form has no fields.")),
        h("ol", { class: "fields" },
          form.fields.map((field) => this.card(path, form, field)),
          hidden.map((one) => this.hiddenCard(path, form, one)))),
      form.buttons.length ? group(gettext("Buttons"), "", h("div", { class: "two-fields" }, form.buttons.map((one) => this.buttonText(path, form, one)))) : null);
  }

  buttonText(path, form, { one, label, tool, isPrimary }) {
    const action = tool ? gettext("Submit button") : isPrimary ? gettext("Main button") : gettext("Second button");
    return text(action, label.text, { at: `${path}.${one.id}.text`, writes: form.pathOf(label.id, "text"), changed: (now) => this.write([form.pathOf(label.id, "text"), now]) });
  }

  // `change` gets the form as it is by then, and the field of it; it answers what is to be written.
  cardChange(path, id, change) {
    const form = this.read(path);
    const field = form.fields.find((one) => one.id === id);
    return field ? change(form, field) : [];
  }

  card(path, form, field) {
    const { id, one } = field;
    const key = `${pointerOf(path)} ${id}`;
    const isOpen = this.unfolded.has(key);
    const name = typeof one.label === "string" && one.label ? one.label : titled(id);
    const named = (words) => interpolate(words, { name }, true);
    const toggle = () => {
      if (!this.unfolded.delete(key)) this.unfolded.add(key);
      this.draw();
    };
    const move = (by) => () => {
      this.arrange(...this.cardChange(path, id, (now, own) => (now.neighbour(own, by) ? [now.move(own, by)] : [])));
      // At the end of the list the button is off: the other one has the focus.
      const back = by < 0 ? "down" : "up";
      if (document.activeElement === document.body) this.root.querySelector(`[data-at="${CSS.escape(`${key}.${back}`)}"]`)?.focus();
    };
    const tool = (words, label, onclick, more) => h("button", { type: "button", class: "btn btn--ghost btn--sm", "aria-label": named(label), onclick, ...more }, words);
    return h("li", { class: `fieldcard${isOpen ? " fieldcard--open" : ""}` },
      h("div", { class: "fieldcard__head" },
        h("button", { type: "button", class: "fieldcard__name", "aria-expanded": String(isOpen), "data-at": `${key}.name`, onclick: toggle },
          h("span", {}, name), h("small", { class: "truncate" }, [field.name && field.name !== id ? field.name : id, this.controlWords(field)].join(" · "))),
        field.isRequired ? h("span", { class: "badge" }, gettext("Required")) : null,
        h("span", { class: "fieldcard__tools" },
          tool("↑", gettext("Move %(name)s up"), move(-1), { disabled: !form.neighbour(field, -1), "data-at": `${key}.up` }),
          tool("↓", gettext("Move %(name)s down"), move(1), { disabled: !form.neighbour(field, 1), "data-at": `${key}.down` }),
          tool(gettext("Hide"), gettext("Hide %(name)s"), () => this.remove(gettext("Field hidden"), ...this.cardChange(path, id, (now, own) => now.hide(own))), { disabled: !form.canHide(field) }))),
      isOpen ? h("div", { class: "fieldcard__body" }, this.fieldBody(path, form, field, key)) : null);
  }

  controlWords({ one }) {
    if (one.component === "ChoicePicker") return one.displayStyle === "chips" ? gettext("Chips") : gettext("Options");
    if (one.component === "DateTimeInput") return one.enableTime ? gettext("Date and time") : gettext("Date");
    if (one.component === "CheckBox") return gettext("Checkbox");
    if (one.component === "Slider") return gettext("Slider");
    return { longText: gettext("Long text"), number: gettext("Number") }[one.variant] ?? gettext("Text");
  }

  fieldBody(path, form, field, key) {
    const { id, one } = field;
    const write = (change) => (now) => this.write(...this.cardChange(path, id, (current, own) => change(current, own, now)));
    const isText = (value) => value === undefined || typeof value === "string";
    const label = write((now, own, words) => now.label(own, words));
    // The card is called what its field is, while it is typed.
    const renamed = (words) => {
      label(words);
      this.root.querySelector(`[data-at="${CSS.escape(`${key}.name`)}"] > span`).textContent = words || titled(id);
    };
    return [
      h("div", { class: "two-fields" },
        isText(one.label) ? text(gettext("Label"), one.label, { at: `${key}.label`, writes: form.pathOf(id, "label"), changed: renamed }) : null,
        field.holder || field.help ? text(gettext("Help text"), field.help?.text, { at: `${key}.help`, onleave: true, help: gettext("Shown below the field."), changed: (now) => this.redraw(...this.cardChange(path, id, (current, own) => current.helpText(own, now))) }) : null),
      this.control(form, field, key),
      Array.isArray(one.options) ? h("fieldset", { class: "options" }, h("legend", { class: "field__label" }, gettext("Options")),
        one.options.map((option, index) => (isObject(option) && typeof option.label === "string"
          ? text(String(option.value), option.label, { at: `${key}.option.${index}`, changed: (now) => this.write([form.pathOf(id, "options", index, "label"), now]) }) : null))) : null,
      this.initial(path, form, field, key),
    ];
  }

  control(form, { id, one, schema }, key) {
    const write = (property) => (now) => this.redraw([form.pathOf(id, property), now]);
    if (one.component === "ChoicePicker") {
      return choice(gettext("Control"), one.displayStyle ?? "checkbox", [["checkbox", gettext("List of options")], ["chips", gettext("Chips")]], { at: `${key}.control`, changed: write("displayStyle") });
    }
    if (one.component !== "TextField") return null;
    const options = [["shortText", gettext("Text")], ["longText", gettext("Long text")]];
    if (one.variant === "number" || ["integer", "number"].includes(schema?.type)) options.push(["number", gettext("Number")]);
    if (one.variant === "obscured") options.push(["obscured", gettext("Hidden characters")]);
    return choice(gettext("Control"), one.variant ?? "shortText", options, { at: `${key}.control`, changed: write("variant") });
  }

  // What the field begins with; the rows of a list come from the agent.
  initial(path, form, field, key) {
    const { one, steps, isRow } = field;
    if (!steps || isRow) return null;
    const label = gettext("Default");
    const more = { at: `${key}.default`, help: gettext("What the field contains when the form opens.") };
    const write = (value) => this.write(...this.cardChange(path, field.id, (now, own) => now.initial(own, value)));
    if (one.component === "CheckBox") return tick(label, field.value === true, { ...more, changed: write });
    if (one.component === "ChoicePicker" && one.variant !== "multipleSelection" && Array.isArray(one.options)) {
      const options = [["", gettext("None")], ...one.options.filter((option) => typeof option?.value === "string").map(({ label: words, value }) => [value, typeof words === "string" ? words : value])];
      return choice(label, Array.isArray(field.value) ? field.value[0] ?? "" : "", options, { ...more, changed: (now) => write(now ? [now] : []) });
    }
    if (!["TextField", "DateTimeInput"].includes(one.component)) return null;
    const type = one.component === "DateTimeInput" ? (one.enableTime ? "datetime-local" : "date") : "text";
    const made = text(label, typeof field.value === "string" ? field.value : "", { ...more, type, changed: write });
    if (one.variant === "number") made.querySelector("input").inputMode = "decimal";
    return made;
  }

  hiddenCard(path, form, one) {
    const words = titled(one.name);
    const show = () => {
      const now = this.read(path);
      const own = now.hidden().find((other) => other.name === one.name);
      if (own) this.arrange(...now.show(own, one.isRequired ? words : interpolate(gettext("%(name)s (optional)"), { name: words }, true)));
    };
    return h("li", { class: "fieldcard fieldcard--hidden" },
      h("div", { class: "fieldcard__head" },
        h("span", { class: "fieldcard__name" }, words, h("small", { class: "truncate" }, `${one.name} · ${gettext("Hidden: the user isn't asked")}`)),
        one.isRequired ? h("span", { class: "badge" }, gettext("Required")) : null,
        button(gettext("Show"), show, { label: interpolate(gettext("Show %(name)s"), { name: words }, true), at: `${pointerOf(path)} ${one.name}.show` })));
  }
}

const listOfAll = (value) => (Array.isArray(value) ? value : []);
