// What the schemas say about a place in a file: keys and values to write, and what they are for.
import { syntaxTree } from "@codemirror/language";

import { gettext, interpolate } from "./gettext.js";
import { described } from "./prose-text.js";
import { isNamed, outline } from "./skill-text.js";

const JSON_SCHEMA = {
  properties: {
    type: { description: gettext("Type of value."), enum: ["object", "array", "string", "number", "integer", "boolean", "null"] },
    description: { description: gettext("Description for the agent.") },
    properties: { description: gettext("The arguments by name.") },
    required: { description: gettext("Required arguments.") },
    items: { description: gettext("Schema of each entry.") },
    enum: { description: gettext("Allowed values.") },
    default: { description: gettext("Default value.") },
    examples: { description: gettext("Example values.") },
    format: { description: gettext("Text format."), enum: ["date", "date-time", "time", "email", "uri", "uuid"] },
    minimum: { description: gettext("Minimum.") },
    maximum: { description: gettext("Maximum.") },
    minLength: { description: gettext("Minimum number of characters.") },
    maxLength: { description: gettext("Maximum number of characters.") },
    minItems: { description: gettext("Minimum number of entries.") },
    maxItems: { description: gettext("Maximum number of entries.") },
    pattern: { description: gettext("A regular expression that the text must match.") },
    additionalProperties: { description: gettext("false: no other arguments are allowed.") },
  },
};
const SCALARS = ["String", "Number", "True", "False", "Null"];

const textOf = (state, node) => {
  try {
    return JSON.parse(state.sliceDoc(node.from, node.to));
  } catch {
    return state.sliceDoc(node.from, node.to).replaceAll('"', "");
  }
};

// The path of keys and indexes that leads to a node.
export function jsonPathAt(state, start) {
  const path = [];
  for (let node = start; node.parent; node = node.parent) {
    const { parent } = node;
    if (parent.name === "Property") {
      const key = parent.getChild("PropertyName");
      if (key && node.name !== "PropertyName") path.unshift(textOf(state, key));
    } else if (parent.name === "Array") {
      let index = 0;
      for (let before = node.prevSibling; before; before = before.prevSibling) {
        if (!["[", ",", "⚠"].includes(before.name)) index += 1;
      }
      path.unshift(index);
    }
  }
  return path;
}

function resolved(schema, root) {
  let now = schema;
  for (let steps = 0; steps < 10 && now?.$ref; steps += 1) {
    const target = now.$ref.split("/").slice(1).reduce((at, step) => at?.[step], root);
    now = { ...target, ...(now.description ? { description: now.description } : {}) };
  }
  return now;
}

// What holds at a path; inside a tool's own schemas that is JSON Schema itself.
export function schemaAt(root, path) {
  let now = root;
  for (const [depth, step] of path.entries()) {
    now = resolved(now, root);
    if (!now) return undefined;
    if (now.if && now.else && !now.properties) {
      now = resolved(typeof step === "number" ? now.else : now.then, root);
    }
    if (typeof step === "number") now = now.items;
    else if (step === "args_schema" || step === "result_schema") return inJsonSchema(path.slice(depth + 1));
    else now = now.properties?.[step] ?? (typeof now.additionalProperties === "object" ? now.additionalProperties : undefined);
    if (!now) return undefined;
  }
  return resolved(now, root);
}

function inJsonSchema(path) {
  let now = JSON_SCHEMA;
  for (const step of path) {
    if (now === null) now = JSON_SCHEMA;
    else if (step === "properties" || step === "$defs") now = null;
    else if (step === "items" || step === "additionalProperties") now = JSON_SCHEMA;
    else now = now.properties?.[step];
    if (now === undefined) return undefined;
  }
  return now ?? undefined;
}

function known(state, object) {
  return new Set(object.getChildren("Property").map((one) => one.getChild("PropertyName")).filter(Boolean).map((key) => textOf(state, key)));
}

function sample(schema, root) {
  const found = resolved(schema, root) ?? {};
  if ("default" in found) return JSON.stringify(found.default);
  if ("const" in found) return JSON.stringify(found.const);
  const type = [found.type].flat()[0];
  return { array: "[]", object: "{}", boolean: "false", integer: "0", number: "0" }[type] ?? '""';
}

export function completions(context, file, facts) {
  return file.endsWith(".json") ? jsonCompletions(context, file, facts) : skillCompletions(context, facts);
}

function jsonCompletions(context, file, facts) {
  const root = facts.schemas[file];
  const { state } = context;
  const node = syntaxTree(state).resolveInner(context.pos, -1);
  if (!root) return null;
  if (node.name === "PropertyName") return keys(context, node, node.parent.parent, root);
  if (node.name === "String" && node.parent.name === "⚠") return keys(context, node, node.parent.parent, root);
  if (SCALARS.includes(node.name)) return values(context, node, root, file, facts);
  if (node.name === "Object" && context.explicit) return keys(context, null, node, root);
  return null;
}

function keys(context, node, object, root) {
  if (object?.name !== "Object") return null;
  const { state } = context;
  const schema = schemaAt(root, jsonPathAt(state, object));
  if (!schema?.properties) return null;
  const there = known(state, object);
  const hasValue = node !== null && /^\s*:/.test(state.sliceDoc(node.to, node.to + 20));
  const options = Object.entries(schema.properties).filter(([key]) => !there.has(key)).map(([key, value]) => ({
    label: `"${key}"`, type: "property", info: resolved(value, root)?.description,
    apply: hasValue ? `"${key}"` : `"${key}": ${sample(value, root)}`,
  }));
  return { from: node ? node.from : context.pos, to: node ? node.to : context.pos, options, filter: true };
}

function values(context, node, root, file, facts) {
  const path = jsonPathAt(context.state, node);
  const schema = schemaAt(root, path);
  const allowed = schema?.enum ?? (schema?.type === "boolean" ? [true, false] : named(path, file, facts));
  if (!allowed?.length) return null;
  return { from: node.from, to: node.to, options: allowed.map((value) => ({ label: JSON.stringify(value), type: "enum" })), filter: true };
}

function named(path, file, facts) {
  const key = path.at(-1);
  if (file === "ui_schemas.json" && key === "tool") return facts.tools();
  if (file === "tools.json" && path.at(-2) === "ui") return facts.forms();
  return null;
}

function skillCompletions(context, facts) {
  const heading = context.matchBefore(/^##[ \t]+[\w \t]*/m);
  if (heading) {
    const options = facts.sections().map((one) => ({ label: one.name, type: "keyword", info: one.hint }));
    return { from: heading.from + /^##[ \t]+/.exec(heading.text)[0].length, options };
  }
  const menu = context.matchBefore(/^[ \t]*\/[\w \t]*/m);
  if (menu) return { from: menu.from + menu.text.indexOf("/") + 1, options: blocks(facts, context.state.doc.toString()), validFor: /^[\w \t]*$/ };
  const word = context.matchBefore(/(?:`|(?<![\w.])@)[\w.]*/);
  if (!word) return null;
  const isMention = word.text[0] === "@";
  const options = [...facts.tools(), ...facts.forms()].map((name) => {
    const { words, about } = described(facts, name);
    return { label: name, type: "variable", detail: words.join(" · "), info: about || undefined, ...(isMention ? { apply: put(`\`${name}\``) } : {}) };
  });
  return { from: word.from + 1, options, validFor: /^[\w.]*$/ };
}

// Takes the letter that opened the menu with it; `at` is where the caret goes, from the begin of what is put in, and what is
// selected ends at `end`.
const put = (insert, at = insert.length, end = at) => (view, _, from, to) =>
  view.dispatch({ changes: { from: from - 1, to, insert }, selection: { anchor: from - 1 + at, head: from - 1 + end }, userEvent: "input.complete", scrollIntoView: true });

// What `/` offers: sections that are missing, then the blocks of a text. `∎` is where one goes on to write; of two, what
// is between them is written over.
function blocks(facts, text) {
  const there = outline(text).sections;
  const missing = facts.sections().filter((one) => !there.some(({ title }) => isNamed(title, one)));
  const step = `### ${(text.match(/^### +\d/gm) ?? []).length + 1}. ∎\n\n**Do:** \n**Check:** \n**Say:** `;
  const found = [
    ...missing.map((one) => [one.name, gettext("Section"), `## ${one.name}\n\n∎`, one.hint]),
    ...(facts.profile() === "playbook" ? [[gettext("Step"), "", step, gettext("What to do, what to check and what to say.")]] : []),
    [gettext("Heading"), "##", "## ∎"], [gettext("Subheading"), "###", "### ∎"],
    [gettext("Bulleted list"), "-", "- ∎"], [gettext("Numbered list"), "1.", "1. ∎"],
    [gettext("Example dialogue"), "", "**User:** ∎\n**Agent:** ", gettext("What a user says and what the agent does.")],
    [gettext("Table"), "", `| ∎${gettext("Column")}∎ | ${gettext("Column")} |\n| --- | --- |\n|  |  |`],
    [gettext("Quote"), ">", "> ∎"], [gettext("Code block"), "```", "```\n∎\n```"], [gettext("Link"), "", "[∎](https://)"],
  ];
  return found.map(([label, detail, block, info], at) => {
    const [before, words, after] = block.split("∎");
    const [insert, end] = after === undefined ? [before + words, before.length] : [before + words + after, before.length + words.length];
    return { label, detail, info, boost: -at, apply: put(insert, before.length, end) };
  });
}

export function helpAt(state, at, file, facts) {
  const root = facts.schemas[file];
  if (!root) return null;
  let node = syntaxTree(state).resolveInner(at, 0);
  if (node.name !== "PropertyName" && !SCALARS.includes(node.name)) return null;
  const { from, to } = node;
  const isKey = node.name === "PropertyName";
  const path = isKey ? [...jsonPathAt(state, node.parent.parent), textOf(state, node)] : jsonPathAt(state, node);
  const schema = schemaAt(root, path);
  const words = [schema?.description, schema?.enum && interpolate(gettext("One of: %(list)s."), { list: schema.enum.join(", ") }, true)].filter(Boolean).join(" ");
  return words ? { from, to, words } : null;
}
