// tools.json as a form: each tool with its arguments, its answer and what it may do.
import { button, chips, choice, group, text, tick } from "./controls.js";
import { h } from "./dom.js";
import { isObject, JsonForm, listOf, orNothing } from "./json-form.js";
import { pointerOf } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

// What the form calls a type, and what it writes.
const TYPES = {
  string: { words: gettext("Text"), write: { type: "string" } },
  date: { words: gettext("Date"), write: { type: "string", format: "date" } },
  "date-time": { words: gettext("Date and time"), write: { type: "string", format: "date-time" } },
  integer: { words: gettext("Integer"), write: { type: "integer" } },
  number: { words: gettext("Number"), write: { type: "number" } },
  boolean: { words: gettext("Yes/No"), write: { type: "boolean" } },
  choice: { words: gettext("Select"), write: { type: "string", enum: ["first", "second"] } },
  list: { words: gettext("List of strings"), write: { type: "array", items: { type: "string" } } },
  numbers: { words: gettext("List of numbers"), write: { type: "array", items: { type: "number" } } },
  group: { words: gettext("Object"), write: { type: "object", properties: {}, additionalProperties: false } },
  groups: { words: gettext("List of objects"), write: { type: "array", items: { type: "object", properties: {}, additionalProperties: false } } },
};
// What stands in a row: an argument of the call, or a value of its answer or of a group.
const WORDS = {
  argument: { none: gettext("No arguments yet."), add: gettext("Add argument"), remove: (name) => interpolate(gettext("Remove argument %(name)s"), { name }, true), removed: gettext("Argument removed") },
  value: { none: gettext("No values yet."), add: gettext("Add value"), remove: (name) => interpolate(gettext("Remove value %(name)s"), { name }, true), removed: gettext("Value removed") },
};
const OURS = ["type", "format", "enum", "items", "properties", "additionalProperties", "required"];

export function typeOf(schema) {
  if (!isObject(schema) || ["$ref", "anyOf", "oneOf", "allOf"].some((key) => key in schema)) return "other";
  if (schema.type === "string" && Array.isArray(schema.enum)) return schema.enum.every((one) => typeof one === "string") ? "choice" : "other";
  if ("enum" in schema) return "other";
  if (schema.type === "string") return ["date", "date-time"].includes(schema.format) ? schema.format : "string";
  if (["integer", "number", "boolean"].includes(schema.type)) return schema.type;
  if (schema.type === "object") return "group";
  if (schema.type !== "array") return "other";
  const items = schema.items;
  if (!isObject(items) || "enum" in items) return "other";
  return { string: "list", number: "numbers", integer: "numbers", object: "groups" }[items.type] ?? "other";
}

export class ToolsForm extends JsonForm {
  constructor(document, root, editor) {
    super(document, root, editor, "[]\n");
  }

  get base() {
    return this.tree.type === "object" ? ["tools"] : [];
  }

  tools() {
    return this.get(this.base) ?? [];
  }

  content() {
    const tools = this.tools();
    if (!Array.isArray(tools)) return [h("p", { class: "banner banner--warning" }, gettext("tools.json must contain a list of tools."))];
    const entries = tools.map((tool, index) => ({ tool, index, part: pointerOf([...this.base, index]) }));
    const shown = this.ofPart(entries);
    return [
      tools.length ? null : h("p", { class: "empty" }, gettext("No tools yet. Tools let the agent look something up or change something.")),
      ...shown.map(({ tool, index }) => this.tool(tool, index, tools.length, shown.length === 1)),
      h("div", { class: "row" }, button(gettext("Add read tool"), () => this.add("read"), { at: "add-read" }), button(gettext("Add write tool"), () => this.add("write"), { at: "add-write" })),
    ].filter(Boolean);
  }

  add(kind) {
    const names = this.tools().map((tool) => tool?.name);
    const stem = `${this.editor.capabilityId}_${kind === "read" ? "list" : "save"}`.slice(0, 60);
    let name = stem;
    for (let count = 2; names.includes(name); count += 1) name = `${stem}_${count}`;
    const policy = kind === "read" ? { kind } : { kind, requires_approval: true };
    const made = { name, description: "", args_schema: { type: "object", properties: {}, required: [], additionalProperties: false }, policy };
    this.list(() => this.arrange([[...this.base, names.length], made]));
    const fold = this.root.querySelectorAll("details.tool")[names.length];
    fold.open = true;
    fold.fill();
    fold.querySelector("input").select();
    fold.querySelector("input").focus();
  }

  tool(tool, index, count, isAlone) {
    const at = [...this.base, index];
    if (!isObject(tool)) return h("p", { class: "banner banner--warning" }, interpolate(gettext("Entry %(number)s isn't a tool. Edit it in code."), { number: index + 1 }, true));
    const kind = tool.policy?.kind;
    const head = h("summary", {}, h("code", {}, tool.name ?? gettext("Unnamed")),
      h("span", { class: `badge ${kind === "write" ? "badge--warning" : ""}` }, kind === "write" ? gettext("Write") : gettext("Read")),
      kind === "write" && tool.policy?.requires_approval === true ? h("span", { class: "badge" }, gettext("Approval required")) : null,
      h("span", { class: "muted truncate tool-words" }, typeof tool.description === "string" ? tool.description : ""));
    return this.fold({ class: "tool form-group", "data-at": isAlone ? null : `tool-${index}`, "data-field": pointerOf(at), open: isAlone }, head, () => [
      this.basics(tool, at), this.policy(tool, at),
      group(gettext("Arguments"), "", this.fields(tool.args_schema, [...at, "args_schema"], "argument")),
      this.result(tool, at), this.forms(tool, at), this.moves(at, index, count),
    ]);
  }

  place(finding) {
    const tool = this.tree && finding.field?.split("/").slice(0, this.base.length + 2).join("/");
    if (tool && tool !== finding.field) super.place({ field: tool })?.fill?.();
    return super.place(finding);
  }

  basics(tool, at) {
    return h("div", {},
      text(gettext("Name"), tool.name, {
        at: `${at}.name`, writes: [...at, "name"], required: true, most: 64, spellcheck: "false", onleave: true, help: gettext("snake_case, e.g. weight_entry_list. The instructions refer to the tool by this name."),
        changed: (now) => this.redraw([[...at, "name"], now.trim()]),
      }),
      text(gettext("Description"), tool.description, {
        at: `${at}.description`, writes: [...at, "description"], required: true, most: 1024, rows: 2, help: gettext("What it does and when to call it. Agents read this."),
        changed: (now) => this.write([[...at, "description"], now]),
      }));
  }

  policy(tool, at) {
    const policy = isObject(tool.policy) ? tool.policy : {};
    const path = [...at, "policy"];
    return group(gettext("Permissions"), "",
      choice(gettext("Access"), policy.kind ?? "", [...(policy.kind ? [] : [["", gettext("Select access"), true]]), ["read", gettext("Read-only")], ["write", gettext("Write")]], {
        at: `${path}.kind`, writes: [...path, "kind"],
        changed: (now) => this.redraw([[...path, "kind"], now], ...(now === "write" && !("requires_approval" in policy) ? [[[...path, "requires_approval"], true]] : [])),
      }),
      tick(gettext("Require approval for every call"), policy.requires_approval === true, {
        at: `${path}.approval`, writes: [...path, "requires_approval"], changed: (on) => this.redraw([[...path, "requires_approval"], on]),
      }),
      chips(gettext("Allowed roles"), listOf(policy.allowed_roles), {
        at: `${path}.roles`, writes: [...path, "allowed_roles"], help: gettext("Empty = everyone"), changed: (now, removed) => this.remove(removed, [[...path, "allowed_roles"], orNothing(now)]),
      }));
  }

  // The properties of an object schema, one row each.
  fields(schema, path, word) {
    if (!isObject(schema) || (schema.properties !== undefined && !isObject(schema.properties))) {
      return h("p", { class: "field__hint" }, gettext("Defined in code view."));
    }
    const properties = schema.properties ?? {};
    const required = listOf(schema.required);
    const rows = Object.entries(properties).map(([name, one], index) => this.property(name, one, { path, word, required, index }));
    return h("div", { class: "properties" }, rows.length ? h("ul", { class: "plain-list" }, rows) : h("p", { class: "field__hint" }, WORDS[word].none),
      button(WORDS[word].add, () => this.addProperty(path, properties), { at: `${path}.add` }));
  }

  addProperty(path, properties) {
    let name = "value";
    for (let count = 2; name in properties; count += 1) name = `value_${count}`;
    this.arrange([[...path, "properties", name], { type: "string", description: "" }]);
    const input = this.root.querySelector(`[data-at="${CSS.escape(`${[...path, Object.keys(properties).length]}.name`)}"]`);
    input?.focus();
    input?.select();
  }

  // `data-at` counts the rows: a name changes while somebody types.
  property(name, schema, { path, word, required, index }) {
    let known = name;
    const at = () => [...path, "properties", known];
    const row = [...path, index];
    const kind = typeOf(schema);
    const rename = (now, control) => {
      const fresh = now.trim();
      if (!fresh || fresh in (this.get([...path, "properties"]) ?? {})) {
        control.value = known;
        return;
      }
      const old = at();
      const listed = listOf(this.get([...path, "required"]));
      const changed = listed.includes(known) ? [[[...path, "required"], listed.map((one) => (one === known ? fresh : one))]] : [];
      known = fresh;
      this.redraw(...changed, this.rename(old, fresh));
    };
    const need = (on) => {
      const others = listOf(this.get([...path, "required"])).filter((one) => one !== known);
      this.write([[...path, "required"], on ? [...others, known] : orNothing(others)]);
    };
    const remove = () => this.remove(WORDS[word].removed, [at(), undefined], [[...path, "required"], orNothing(listOf(this.get([...path, "required"])).filter((one) => one !== known))]);
    return h("li", { class: "property", "data-field": pointerOf(at()) },
      h("div", { class: "property-row" },
        text(gettext("Name"), name, { at: `${row}.name`, changed: rename, onleave: true, spellcheck: "false" }),
        this.type(schema, at, kind, row),
        tick(gettext("Required"), required.includes(name), { at: `${row}.required`, writes: [...at(), "required"], changed: need }),
        button(gettext("Remove"), remove, { label: WORDS[word].remove(name) })),
      text(gettext("Description"), schema?.description, { at: `${row}.description`, writes: [...at(), "description"], changed: (now) => this.write([[...at(), "description"], orNothing(now)]) }),
      kind === "choice" ? chips(gettext("Options"), listOf(schema.enum), { at: `${row}.enum`, writes: [...at(), "enum"], changed: (now, removed) => this.remove(removed, [[...at(), "enum"], now]) }) : null,
      kind === "group" ? this.fields(schema, at(), "value") : null,
      kind === "groups" ? this.fields(schema.items, [...at(), "items"], "value") : null,
      ["group", "groups", "other"].includes(kind) ? null : this.example(schema, at, kind, row));
  }

  type(schema, at, kind, row) {
    const options = Object.entries(TYPES).map(([key, one]) => [key, one.words]);
    if (kind === "other") options.unshift(["other", gettext("Defined in code")]);
    return choice(gettext("Type"), kind, options, {
      at: `${row}.type`, writes: [...at(), "type"],
      changed: (now) => {
        if (now === "other") return;
        const wanted = TYPES[now].write;
        const gone = isObject(schema) ? [...OURS, "examples", "default"].filter((key) => key in schema && !(key in wanted)) : [];
        this.remove(gone.length ? gettext("Type changed") : "", ...gone.map((key) => [[...at(), key], undefined]), ...Object.entries(wanted).map(([key, value]) => [[...at(), key], value]));
      },
    });
  }

  example(schema, at, kind, row) {
    const given = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
    const shown = given === undefined ? "" : Array.isArray(given) ? given.join(", ") : String(given);
    return text(gettext("Example"), shown, {
      at: `${row}.example`, writes: [...at(), "examples"], changed: (now) => {
        const value = read(now, kind);
        this.write([[...at(), "examples"], value === undefined ? undefined : [value]]);
      },
    });
  }

  result(tool, at) {
    const path = [...at, "result_schema"];
    if (!("result_schema" in tool)) {
      return h("div", { class: "form-group" }, button(gettext("Define result"), () => this.arrange([path, { type: "object", properties: {} }]), { at: `${at}.result` }));
    }
    const isPlain = isObject(tool.result_schema) && tool.result_schema.type === "object";
    return group(gettext("Result"), "", isPlain ? this.fields(tool.result_schema, path, "value") : h("p", { class: "field__hint" }, gettext("Defined in code view.")),
      button(gettext("Remove result schema"), () => this.remove(gettext("Result removed"), [path, undefined])));
  }

  forms(tool, at) {
    const forms = this.editor.facts().forms();
    const pick = (role, words) => {
      const now = tool.ui?.[role] ?? "";
      const options = [["", gettext("None")], ...new Set([...forms, ...(now ? [now] : [])])].map((one) => (Array.isArray(one) ? one : [one, one]));
      const only = isObject(tool.ui) && Object.keys(tool.ui).length === 1;
      return choice(words, now, options, {
        at: `${at}.ui.${role}`, writes: [...at, "ui", role], changed: (value) => this.redraw(value ? [[...at, "ui", role], value] : only ? [[...at, "ui"], undefined] : [[...at, "ui", role], undefined]),
      });
    };
    return group(gettext("Forms"), "",
      h("div", { class: "three-fields" }, pick("form", gettext("Single entry")), pick("editor", gettext("Multiple entries")), pick("result", gettext("Result view"))),
      button(gettext("Generate form"), () => this.editor.makeForm(tool.name), { at: `${at}.make-form` }));
  }

  moves(at, index, count) {
    const list = this.base;
    const swap = (other) => {
      if (this.editor.part) this.editor.part = pointerOf([...list, other]);
      this.arrange(this.swap(list, index, other));
    };
    return h("div", { class: "row tool-moves" },
      button(gettext("Move up"), () => swap(index - 1), { disabled: index === 0, at: `${at}.up` }),
      button(gettext("Move down"), () => swap(index + 1), { disabled: index === count - 1, at: `${at}.down` }),
      button(gettext("Duplicate"), () => this.list(() => this.arrange([[...list, count], { ...this.get(at), name: `${this.get([...at, "name"])}_copy` }]))),
      button(gettext("Delete tool"), () => this.list(() => this.remove(gettext("Tool removed"), [at, undefined]))));
  }
}

// What was typed as an example, in the type of the argument; undefined where it is none.
function read(words, kind) {
  if (words.trim() === "") return undefined;
  const number = (one) => (one.trim() !== "" && Number.isFinite(Number(one)) ? Number(one) : undefined);
  if (kind === "integer" || kind === "number") return number(words);
  if (kind === "boolean") return { yes: true, true: true, no: false, false: false }[words.trim().toLowerCase()];
  if (kind === "list") return words.split(",").map((one) => one.trim()).filter(Boolean);
  if (kind === "numbers") return words.split(",").map(number).filter((one) => one !== undefined);
  return words;
}
