// JSON as text: where each value stands, and the smallest edit that changes one. What is not touched stays as it was
// written: keys that nobody knows, their order, the layout, numbers too long for a script.
import { gettext, interpolate } from "./gettext.js";

const LEVELS_MAX = 100;
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

export class JsonFault extends Error {
  constructor(message, offset) {
    super(message);
    this.offset = offset;
  }
}

// A node: {type, start, end, value?} and `members` [{key, keyStart, keyEnd, node}] of an object, `items` of a list.
export function parse(text) {
  const reader = { text, at: 0 };
  skip(reader);
  const node = read(reader, 1);
  skip(reader);
  if (reader.at < text.length) throw new JsonFault(gettext("Unexpected text after the end"), reader.at);
  return node;
}

function match(reader, pattern) {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text);
  if (found) reader.at = pattern.lastIndex;
  return found?.[0];
}

function skip(reader) {
  match(reader, SPACE);
}

function read(reader, level) {
  const start = reader.at;
  const first = reader.text[start];
  if (level > LEVELS_MAX) throw new JsonFault(gettext("Too many levels"), start);
  if (first === "{") return readObject(reader, level);
  if (first === "[") return readList(reader, level);
  for (const [type, pattern] of [["string", STRING], ["number", NUMBER], ["word", WORD]]) {
    const raw = match(reader, pattern);
    if (raw !== undefined) return { type, start, end: reader.at, value: JSON.parse(raw) };
  }
  throw new JsonFault(start < reader.text.length ? gettext("Invalid JSON value") : gettext("Unexpected end of text"), start);
}

function expect(reader, sign) {
  skip(reader);
  if (reader.text[reader.at] !== sign) throw new JsonFault(interpolate(gettext("Missing %(sign)s"), { sign }, true), reader.at);
  reader.at += 1;
  skip(reader);
}

function more(reader, end) {
  skip(reader);
  if (reader.text[reader.at] === end) {
    reader.at += 1;
    return false;
  }
  if (reader.text[reader.at] !== ",") throw new JsonFault(interpolate(gettext("Missing comma or %(sign)s"), { sign: end }, true), reader.at);
  reader.at += 1;
  skip(reader);
  return true;
}

function readObject(reader, level) {
  const node = { type: "object", start: reader.at, end: 0, members: [] };
  reader.at += 1;
  skip(reader);
  if (reader.text[reader.at] === "}") reader.at += 1;
  else {
    do {
      const keyStart = reader.at;
      const raw = match(reader, STRING);
      if (raw === undefined) throw new JsonFault(gettext("Missing key in double quotes"), keyStart);
      const keyEnd = reader.at;
      expect(reader, ":");
      node.members.push({ key: JSON.parse(raw), keyStart, keyEnd, node: read(reader, level + 1) });
    } while (more(reader, "}"));
  }
  node.end = reader.at;
  return node;
}

function readList(reader, level) {
  const node = { type: "array", start: reader.at, end: 0, items: [] };
  reader.at += 1;
  skip(reader);
  if (reader.text[reader.at] === "]") reader.at += 1;
  else do node.items.push(read(reader, level + 1)); while (more(reader, "]"));
  node.end = reader.at;
  return node;
}

export function valueOf(node) {
  if (node.type === "array") return node.items.map(valueOf);
  if (node.type !== "object") return node.value;
  const value = {};
  for (const { key, node: inner } of node.members) {
    Object.defineProperty(value, key, { value: valueOf(inner), enumerable: true, writable: true, configurable: true });
  }
  return value;
}

export const memberOf = (node, key) =>
  node?.type === "object" ? node.members.findLast((member) => member.key === key) : undefined;

export function nodeAt(root, path) {
  let node = root;
  for (const step of path) {
    node = typeof step === "number" ? (node?.type === "array" ? node.items[step] : undefined) : memberOf(node, step)?.node;
    if (!node) return undefined;
  }
  return node;
}

// A path as a JSON pointer (RFC 6901).
export const pointerOf = (path) => path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

// The value at a path as plain data, or undefined.
export function get(root, path) {
  const node = nodeAt(root, path);
  return node && valueOf(node);
}

function indentAt(text, offset) {
  const line = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, offset))[0];
}

function written(value, indent) {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    if (line.length + indent.length <= 100) return line;
  }
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

// The edits that put `value` at `path`; undefined removes what is there. Objects on the way are made.
export function set(text, root, path, value) {
  const node = nodeAt(root, path);
  if (value === undefined) return node && path.length ? [removal(text, root, path)] : [];
  if (node) return [{ from: node.start, to: node.end, insert: written(value, indentAt(text, node.start)) }];
  const [step, ...rest] = path.slice(known(root, path));
  const holder = nodeAt(root, path.slice(0, known(root, path)));
  const made = rest.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
  if (holder.type !== (typeof step === "number" ? "array" : "object")) {
    const whole = typeof step === "number" ? [made] : { [step]: made };
    return [{ from: holder.start, to: holder.end, insert: written(whole, indentAt(text, holder.start)) }];
  }
  return [insertion(text, holder, typeof step === "number" ? null : step, made)];
}

function known(root, path) {
  let depth = path.length;
  while (depth && !nodeAt(root, path.slice(0, depth))) depth -= 1;
  return depth;
}

function insertion(text, holder, key, value) {
  const parts = (holder.members ?? holder.items).map((part) => ({
    start: part.keyStart ?? part.start, end: part.node?.end ?? part.end,
  }));
  const outer = indentAt(text, holder.start);
  const inner = parts.length && text.slice(holder.start, parts[0].start).includes("\n")
    ? indentAt(text, parts[0].start) : `${outer}  `;
  const entry = (key === null ? "" : `${JSON.stringify(key)}: `) + written(value, inner);
  if (!parts.length) {
    return { from: holder.start + 1, to: holder.end - 1, insert: `\n${inner}${entry}\n${outer}` };
  }
  const last = parts.at(-1);
  const isOneLine = !text.slice(holder.start, holder.end).includes("\n");
  return { from: last.end, to: last.end, insert: isOneLine ? `, ${entry}` : `,\n${inner}${entry}` };
}

function removal(text, root, path) {
  const holder = nodeAt(root, path.slice(0, -1));
  const step = path.at(-1);
  const parts = holder.members ?? holder.items;
  const at = typeof step === "number" ? step : parts.indexOf(memberOf(holder, step));
  const startOf = (part) => part.keyStart ?? part.start;
  const endOf = (part) => part.node?.end ?? part.end;
  if (parts.length === 1) return { from: holder.start + 1, to: holder.end - 1, insert: "" };
  if (at === 0) return { from: startOf(parts[0]), to: startOf(parts[1]), insert: "" };
  return { from: endOf(parts[at - 1]), to: endOf(parts[at]), insert: "" };
}

// The edit that gives a key another name.
export function rename(root, path, name) {
  const member = memberOf(nodeAt(root, path.slice(0, -1)), path.at(-1));
  return member ? [{ from: member.keyStart, to: member.keyEnd, insert: JSON.stringify(name) }] : [];
}

// The edits that let two neighbours of a list change places.
export function swap(text, root, path, at, other) {
  const { items } = nodeAt(root, path);
  const [first, second] = [items[Math.min(at, other)], items[Math.max(at, other)]];
  if (!first || !second || first === second) return [];
  return [
    { from: first.start, to: first.end, insert: text.slice(second.start, second.end) },
    { from: second.start, to: second.end, insert: text.slice(first.start, first.end) },
  ];
}

export function applied(text, edits) {
  let done = text;
  for (const { from, to, insert } of [...edits].sort((a, b) => b.from - a.from)) {
    done = done.slice(0, from) + insert + done.slice(to);
  }
  return done;
}
