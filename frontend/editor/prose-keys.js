// Keys of the document: a new line goes on with what one is in, and erasing at its begin ends it.
import { syntaxTree } from "@codemirror/language";
import { EditorSelection } from "@codemirror/state";

import { speakerOf } from "./prose-text.js";
import { frontMatterEnd } from "./skill-text.js";

const ITEM = /^(\s*(?:>\s*)*)(?:([-*+])|(\d+)([.)]))(\s+)(\[[ xX]\]\s+)?/;
const HEADING = /^#{1,6}[ \t]+/;
const QUOTE = /^(\s*(?:>\s?)+)/;

const change = (view, from, to, insert, at = from + insert.length) =>
  (view.dispatch({ changes: { from, to, insert }, selection: { anchor: at } }, { userEvent: insert ? "input" : "delete", scrollIntoView: true }), true);

const isIn = (state, at, ...names) => {
  for (let node = syntaxTree(state).resolveInner(at, -1); node; node = node.parent) if (names.includes(node.name)) return true;
  return false;
};

const isBlank = (state, number) => number < 1 || number > state.doc.lines || !state.doc.line(number).text.trim();

// What blank lines a paragraph needs around it where it takes the place of a line: [before, after].
export const apart = (state, line) => [isBlank(state, line.number - 1) ? "" : "\n", isBlank(state, line.number + 1) ? "" : "\n"];

// From an empty entry to a paragraph of its own.
function leave(view, line) {
  const [before, after] = apart(view.state, line);
  return change(view, line.from, line.to, before + after, line.from + before.length);
}

// Who speaks after whom; a call is followed by what the agent says.
const NEXT = { user: "Agent", agent: "User", call: "Agent" };

export function enter(view) {
  const { state } = view;
  const { from, to, empty } = state.selection.main;
  if (isIn(state, from, "FencedCode", "CodeBlock", "HTMLBlock", "CommentBlock")) return false;
  const line = state.doc.lineAt(from);
  const rest = state.sliceDoc(to, line.to).trim();
  if (empty && /^\s*\|.*\|\s*$/.test(line.text) && isIn(state, line.to, "Table")) return row(view, line);
  const item = ITEM.exec(line.text);
  if (item && from >= line.from + item[0].length) {
    if (empty && line.to === line.from + item[0].length) return leave(view, line);
    const [, lead, sign, number, dot, space, task] = item;
    return change(view, from, to, `\n${lead}${sign ?? Number(number) + 1 + dot}${space}${task ? "[ ] " : ""}`);
  }
  const quote = QUOTE.exec(line.text);
  if (quote) return line.text.trim() === quote[0].trim() ? leave(view, line) : change(view, from, to, `\n${quote[0]}`);
  const said = speakerOf(line.text);
  if (said && from >= line.from + said.length) {
    if (empty && line.to === line.from + said.length) return leave(view, line);
    if (!rest) return change(view, from, to, `${said.role === "agent" ? "\n\n" : "\n"}**${NEXT[said.role]}:** `);
  }
  // A paragraph of its own: a line break alone would be a space to readers.
  if (!line.text.trim() || from === line.from || from < frontMatterEnd(state.sliceDoc(0, 20_000))) return false;
  const before = state.sliceDoc(line.from, from);
  return change(view, from + before.trimEnd().length - before.length, to, "\n\n");
}

function row(view, line) {
  const { state } = view;
  const cells = line.text.split(/(?<!\\)\|/).length - 2;
  const isEmpty = !line.text.replaceAll("|", "").trim();
  if (isEmpty) return leave(view, line);
  const at = /^\s*\|[\s|:-]+$/.test(state.doc.lineAt(Math.min(line.to + 1, state.doc.length)).text) ? state.doc.line(line.number + 1).to : line.to;
  return change(view, at, at, `\n|${"  |".repeat(cells)}`, at + 3);
}

// In a table, to the next cell or the one before, whose text is selected; out of it after the last one.
export function toCell(view, step) {
  const { state } = view;
  const line = state.doc.lineAt(state.selection.main.head);
  if (!/^\s*\|/.test(line.text) || !isIn(state, line.to, "Table")) return false;
  const cells = [];
  for (let number = line.number - 2; number <= line.number + 2; number += 1) {
    const { text, from } = number < 1 || number > state.doc.lines ? { text: "", from: 0 } : state.doc.line(number);
    if (!/^\s*\|/.test(text) || /^[\s|:]*-[\s|:-]*$/.test(text)) continue;
    for (const found of text.matchAll(/\|([^|]*)(?=\|)/g)) {
      const start = from + found.index + 1 + Math.min(1, found[1].length);
      cells.push({ from: start, to: Math.max(start, from + found.index + 1 + found[1].trimEnd().length), end: from + found.index + 1 + found[1].length });
    }
  }
  const { head } = state.selection.main;
  const here = cells.findIndex((cell) => head <= cell.end);
  const cell = cells[here + step];
  if (here < 0 || !cell) return false;
  view.dispatch({ selection: EditorSelection.range(cell.from, cell.to), scrollIntoView: true });
  return true;
}

// The length of what is drawn in place of the begin of a line.
const drawnLead = ({ text }) => [HEADING, ITEM, QUOTE].map((lead) => lead.exec(text)?.[0].length).find(Boolean) ?? speakerOf(text)?.length ?? 0;

// To the first word of a line, before which is what draws it; from there a second press goes on to the begin of the text.
export const home = (isSelecting) => (view) => {
  const { state } = view;
  const { anchor, head } = state.selection.main;
  const line = state.doc.lineAt(head);
  if (state.selection.ranges.length > 1 || isIn(state, head, "FencedCode", "CodeBlock")) return false;
  const lead = drawnLead(line);
  const start = line.from + lead + (speakerOf(line.text.slice(lead))?.length ?? 0);
  // A long line has begins of rows before which nothing is hidden.
  if (start === line.from || head <= start || view.moveToLineBoundary(state.selection.main, false).head > start) return false;
  view.dispatch({ selection: { anchor: isSelecting ? anchor : start, head: start }, userEvent: "select", scrollIntoView: true });
  return true;
};

export function erase(view) {
  const { state } = view;
  const { from, empty } = state.selection.main;
  if (!empty || isIn(state, from, "FencedCode", "CodeBlock")) return false;
  const line = state.doc.lineAt(from);
  const lead = drawnLead(line);
  if (lead && from === line.from + lead) return change(view, line.from, from, "");
  if (from !== line.from || !line.text.trim() || line.number < 3 || lead) return false;
  const [gap, above] = [state.doc.line(line.number - 1), state.doc.line(line.number - 2)];
  return !gap.text.trim() && above.text.trim() ? change(view, above.to, from, "") : false;
}

// Bold, italic and code: around the selection, or taken off it.
export function toggle(view, sign) {
  const { state } = view;
  view.dispatch(state.changeByRange((range) => {
    const size = sign.length;
    const isPart = size === 1 && state.sliceDoc(range.from - 2, range.from) === sign + sign;
    const isAround = !isPart && state.sliceDoc(range.from - size, range.from) === sign && state.sliceDoc(range.to, range.to + size) === sign;
    if (isAround && !range.empty) {
      return { changes: [{ from: range.from - size, to: range.from }, { from: range.to, to: range.to + size }], range: EditorSelection.range(range.from - size, range.to - size) };
    }
    return { changes: [{ from: range.from, insert: sign }, { from: range.to, insert: sign }], range: EditorSelection.range(range.from + size, range.to + size) };
  }), { userEvent: "input" });
  return true;
}
