// What the builder knows of a form: its fields in the order in which they are drawn, its buttons, and the edits that change
// one of them and nothing else.
import { nodeAt, set } from "./json-text.js";

const INPUTS = ["TextField", "CheckBox", "ChoicePicker", "Slider", "DateTimeInput"];
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const stepsOf = (path) => path.split("/").filter((step, at) => at || step).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
const escaped = (step) => step.replaceAll("~", "~0").replaceAll("/", "~1");

// The helping text of a field is the caption that follows it and has its name.
const helpId = (id) => `${id}_help`;

export class FormFields {
  // `path` leads to the definition; `tools` are the tools that its buttons call, by the name of their event.
  constructor(definition, path, tools) {
    this.path = path;
    this.data = isObject(definition?.dataModel) ? definition.dataModel : {};
    this.components = (Array.isArray(definition?.components) ? definition.components : []).map((one) => (isObject(one) ? one : {}));
    this.indexes = new Map();
    for (const [index, one] of this.components.entries()) if (!this.indexes.has(one.id)) this.indexes.set(one.id, index);
    this.tools = tools;
    this.drawn = [];
    this.walk("root", "", null, new Set());
    this.buttons = this.drawn.filter(({ one }) => one.component === "Button").map(({ one }) => this.button(one)).filter(Boolean);
    this.fields = this.drawn.filter(({ one }) => INPUTS.includes(one.component)).map((place) => this.field(place));
  }

  get(id) {
    return this.components[this.indexes.get(id)];
  }

  // Each component where it is drawn, with the data that relative paths begin from, and the list that holds it.
  walk(id, scope, holder, above) {
    const one = this.get(id);
    if (!one || above.has(id)) return;
    this.drawn.push({ one, scope, holder });
    const inside = new Set(above).add(id);
    for (const key of ["child", "trigger", "content"]) if (typeof one[key] === "string") this.walk(one[key], scope, null, inside);
    for (const tab of Array.isArray(one.tabs) ? one.tabs : []) this.walk(tab?.child, scope, null, inside);
    if (Array.isArray(one.children)) for (const [at, child] of one.children.entries()) this.walk(child, scope, { id, at }, inside);
    else if (isObject(one.children)) this.walk(one.children.componentId, `${this.absolute(one.children.path ?? "", scope)}/0`, null, inside);
  }

  absolute(path, scope) {
    return path.startsWith("/") ? path : `${scope}/${path}`;
  }

  button(one) {
    const label = this.get(one.child);
    const event = one.action?.event;
    if (label?.component !== "Text" || typeof label.text !== "string") return null;
    return { one, label, context: isObject(event?.context) ? event.context : {}, tool: this.tools[event?.name], isPrimary: one.variant === "primary" };
  }

  field({ one, scope, holder }) {
    const bound = typeof one.value?.path === "string" ? this.absolute(one.value.path, scope) : null;
    const help = this.get(helpId(one.id));
    const found = bound === null ? {} : this.argument(bound);
    return {
      id: one.id, one, holder, bound, ...found,
      isRow: scope !== "",
      steps: bound === null ? null : stepsOf(bound),
      help: help?.component === "Text" && typeof help.text === "string" ? help : null,
      value: bound === null ? undefined : this.at(bound),
    };
  }

  at(path) {
    return stepsOf(path).reduce((value, step) => value?.[step], this.data);
  }

  // The argument that a place of the data is sent as: its name, its schema, and whether the tool needs it.
  argument(bound) {
    for (const { context, tool } of this.buttons) {
      const schema = tool?.args_schema;
      for (const [name, value] of Object.entries(context)) {
        if (typeof value?.path !== "string" || (bound !== value.path && !bound.startsWith(`${value.path}/`))) continue;
        let at = { schema: schema?.properties?.[name], isRequired: listed(schema, name), name };
        for (const step of stepsOf(bound.slice(value.path.length))) {
          at = /^\d+$/.test(step)
            ? { ...at, schema: at.schema?.items }
            : { schema: at.schema?.properties?.[step], isRequired: listed(at.schema, step), name: step };
        }
        return at;
      }
    }
    return { name: stepsOf(bound).at(-1) };
  }

  // What a tool takes and no field asks for.
  hidden() {
    const send = this.buttons.find((one) => one.tool);
    const properties = send?.tool.args_schema?.properties;
    if (!isObject(properties)) return [];
    return Object.entries(properties).filter(([name, schema]) => {
      const sent = send.context[name];
      const path = isObject(sent) ? sent.path : undefined;
      const isFree = sent === undefined || (typeof path === "string" && !this.fields.some((one) => one.bound === path || one.bound?.startsWith(`${path}/`)));
      return isFree && name !== "user_id" && isObject(schema) && made(schema);
    }).map(([name, schema]) => ({ name, schema, isRequired: listed(send.tool.args_schema, name), send, path: send.context[name]?.path ?? `/${escaped(name)}` }));
  }

  pathOf(id, ...more) {
    return [...this.path, "components", this.indexes.get(id), ...more];
  }

  // The blocks of the list that holds a field, which change places with each other: fields with their help, and whatever
  // else holds fields.
  blocks({ holder }) {
    if (!holder) return [];
    const { children } = this.get(holder.id);
    const hasInput = (id) => this.drawn.some(({ one }) => one.id === id && INPUTS.includes(one.component)) || this.below(id).some((one) => INPUTS.includes(one.component));
    return children.map((id, from) => ({ id, from, to: from + (children[from + 1] === helpId(id) ? 2 : 1) })).filter(({ id }) => hasInput(id));
  }

  below(id, above = new Set()) {
    const one = this.get(id);
    if (!one || above.has(id)) return [];
    const inside = new Set(above).add(id);
    const next = [one.child, ...(Array.isArray(one.children) ? one.children : [one.children?.componentId])].filter((name) => typeof name === "string");
    return next.flatMap((name) => [this.get(name), ...this.below(name, inside)]).filter(Boolean);
  }

  neighbour(field, by) {
    const blocks = this.blocks(field);
    const at = blocks.findIndex((block) => block.id === field.id);
    return at < 0 ? undefined : blocks[at + by];
  }

  // Each of these is a change for `JsonForm.write`.
  move(field, by) {
    const other = this.neighbour(field, by);
    const own = this.blocks(field).find((block) => block.id === field.id);
    const { children } = this.get(field.holder.id);
    const [first, second] = by < 0 ? [other, own] : [own, other];
    const now = [...children.slice(second.from, second.to), ...children.slice(first.to, second.from), ...children.slice(first.from, first.to)];
    return (text, root) => {
      const { items } = nodeAt(root, this.pathOf(field.holder.id, "children"));
      return now.map((id, at) => ({ node: items[first.from + at], id })).filter(({ node, id }) => node.value !== id)
        .map(({ node, id }) => ({ from: node.start, to: node.end, insert: JSON.stringify(id) }));
    };
  }

  label(field, words) {
    const changes = [[this.pathOf(field.id, "label"), words]];
    // Said where the label is not seen; one of its own stays.
    if (field.one.accessibility?.label === field.one.label) changes.push([this.pathOf(field.id, "accessibility", "label"), words]);
    return changes;
  }

  helpText(field, words) {
    if (field.help && words) return [[this.pathOf(field.help.id, "text"), words]];
    if (field.help) return this.without([field.help.id]);
    if (!words || !field.holder) return [];
    const caption = { id: helpId(field.id), component: "Text", text: words, variant: "caption" };
    return [inserted(this.pathOf(field.holder.id, "children"), field.holder.at + 1, caption.id), inserted([...this.path, "components"], this.indexes.get(field.id) + 1, caption)];
  }

  // Takes components away, from the lists that hold them too.
  without(ids) {
    const changes = [];
    for (const { one } of this.drawn) {
      if (!Array.isArray(one.children)) continue;
      for (const at of [...one.children.keys()].reverse()) if (ids.includes(one.children[at])) changes.push([this.pathOf(one.id, "children", at), undefined]);
    }
    const indexes = ids.map((id) => this.indexes.get(id)).filter((index) => index !== undefined).sort((a, b) => b - a);
    return [...changes, ...indexes.map((index) => [[...this.path, "components", index], undefined])];
  }

  canHide(field) {
    return Boolean(field.holder) && this.blocks(field).length > 1;
  }

  hide(field) {
    return this.without([field.id, ...(field.help ? [field.help.id] : [])]);
  }

  // Before the buttons.
  show({ name, schema, send, path, isRequired }, words) {
    const holder = this.drawn.find(({ one }) => Array.isArray(one.children) && one.children.some((id) => [this.get(id), ...this.below(id)].includes(send.one)));
    if (!holder) return [];
    const at = holder.one.children.findIndex((id) => [this.get(id), ...this.below(id)].includes(send.one));
    const stem = /^[A-Za-z]/.test(name) ? name : `field_${name}`;
    let id = stem;
    for (let count = 2; this.indexes.has(id); count += 1) id = `${stem}_${count}`;
    const { data, ...component } = made(schema, isRequired);
    const changes = [
      inserted(this.pathOf(holder.one.id, "children"), at, id),
      inserted([...this.path, "components"], this.components.length, { id, ...component, label: words, value: { path }, accessibility: { label: words } }),
    ];
    if (!send.context[name]) changes.push([this.pathOf(send.one.id, "action", "event", "context", name), { path }]);
    if (this.at(path) === undefined) changes.push([[...this.path, "dataModel", ...this.dataSteps(stepsOf(path))], data]);
    return changes;
  }

  initial(field, value) {
    return [[[...this.path, "dataModel", ...this.dataSteps(field.steps)], value]];
  }

  // A step of digits is one of a list where there is a list.
  dataSteps(steps) {
    let value = this.data;
    return steps.map((step) => {
      const isList = Array.isArray(value);
      value = value?.[step];
      return isList ? Number(step) : step;
    });
  }
}

const listed = (schema, name) => Array.isArray(schema?.required) && schema.required.includes(name);

// The component for an argument with what it begins with; undefined where there is none.
function made(schema, isRequired = false) {
  const options = schema.type === "string" && Array.isArray(schema.enum) ? schema.enum.filter((one) => typeof one === "string") : null;
  if (options?.length) {
    return { component: "ChoicePicker", variant: "mutuallyExclusive", options: options.map((value) => ({ label: titled(value), value })), data: isRequired ? [] : [options[0]] };
  }
  if (schema.type === "boolean") return { component: "CheckBox", data: false };
  if (schema.type === "string" && ["date", "date-time"].includes(schema.format)) return { component: "DateTimeInput", enableDate: true, enableTime: schema.format === "date-time", data: "" };
  if (schema.type === "string") return { component: "TextField", variant: schema.maxLength > 200 ? "longText" : "shortText", data: "" };
  if (["integer", "number"].includes(schema.type)) return { component: "TextField", variant: "number", data: "" };
  return undefined;
}

export function titled(name) {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const inserted = (path, at, value) => (text, root) => insertItem(text, root, path, at, value);

// The edit that puts a value before another of a list.
export function insertItem(text, root, path, at, value) {
  const { items } = nodeAt(root, path);
  if (at >= items.length) return set(text, root, [...path, items.length], value);
  const next = items[at];
  const line = text.lastIndexOf("\n", next.start - 1) + 1;
  const lead = text.slice(line, next.start);
  const isOwnLine = lead.trim() === "";
  const words = JSON.stringify(value, null, 2).replaceAll("\n", `\n${isOwnLine ? lead : ""}`);
  return [{ from: next.start, to: next.start, insert: `${words},${isOwnLine ? `\n${lead}` : " "}` }];
}
