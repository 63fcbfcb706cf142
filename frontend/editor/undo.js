// Undo for changes that a form makes to the structure of a file: what was removed comes back letter for letter, at its place,
// whatever was typed elsewhere since. Text fields and the code editor have an undo of their own.
import { h } from "./dom.js";
import { smallest } from "./json-form.js";
import { applied } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

const STEPS_MAX = 100;
const TEXT_FIELDS = [
  "input:not([type=checkbox], [type=radio])",
  "textarea",
  "select",
  "[contenteditable]",
  ".cm-editor *",
].join();

// Where a stretch {from, to} stands after an edit {from, to, insert}; null where the edit changed the stretch itself.
function moved(stretch, edit) {
  if (edit.from >= stretch.to) return stretch;
  if (edit.to > stretch.from) return null;
  const grown = edit.insert.length - (edit.to - edit.from);
  return { ...stretch, from: stretch.from + grown, to: stretch.to + grown };
}

export function follow(stretches, before, after) {
  const [edit] = smallest(before, after);
  if (!edit || !stretches) return stretches;
  const found = stretches.map((one) => moved(one, edit));
  return found.includes(null) ? null : found;
}

// The edits of the last text that lead back to the first: one for each change between them, so that what is between two
// changes can still be typed in.
export function wayBack(texts) {
  let edits = [];
  for (const [at, after] of texts.entries()) {
    if (at === 0) continue;
    const before = texts[at - 1];
    const [edit] = smallest(before, after);
    if (!edit) continue;
    edits = follow(edits, before, after);
    if (!edits) break;
    edits = [...edits, { from: edit.from, to: edit.from + edit.insert.length, insert: before.slice(edit.from, edit.to) }];
  }
  if (edits && applied(texts.at(-1), edits) === texts[0]) return edits;
  return smallest(texts.at(-1), texts[0]);
}

export class Undo {
  constructor(editor) {
    this.editor = editor;
    this.steps = [];
    this.shown = null;
    this.texts = new Map(editor.documents.map((one) => [one, one.text]));
    this.place = document.getElementById("editor-undo");
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "z") return;
    if (event.defaultPrevented || event.target.matches?.(TEXT_FIELDS) || document.querySelector("dialog[open]")) return;
    const last = this.steps.findLast((step) => step === this.shown || step.document === this.editor.here);
    if (!last) return;
    event.preventDefault();
    this.back(last);
  }

  // Makes a change of a form. It may return the texts that it went through. With `words` a notice offers to undo it until
  // the next change of structure.
  record(document, { words = "", isStructure = Boolean(words) }, change) {
    const before = document.text;
    const below = this.steps.filter((step) => step.document === document).map((step) => [step, step.edits]);
    const button = this.buttons(document).indexOf(globalThis.document.activeElement);
    const texts = change() ?? [before, document.text];
    if (document.text === before) return;
    const step = { document, words, before, below, button, edits: wayBack(texts) };
    this.steps = [...this.steps, step].slice(-STEPS_MAX);
    if (isStructure) this.show(words ? step : null);
  }

  buttons(document) {
    document.form.fill?.();
    return [...document.formRoot.querySelectorAll("button")];
  }

  // Called after each change of a file, by a form or by typing.
  changed(document) {
    const before = this.texts.get(document);
    const { text } = document;
    this.texts.set(document, text);
    for (const step of this.steps) {
      if (step.document === document) step.edits = follow(step.edits, before, text);
    }
    // The code editor may have undone it already.
    this.steps = this.steps.filter((step) => step.document !== document || step.before !== text);
    if (this.shown && (!this.shown.edits || !this.steps.includes(this.shown))) this.show(null);
  }

  back(step) {
    this.steps = this.steps.filter((one) => one !== step);
    const { document } = step;
    const isLost = this.place.contains(globalThis.document.activeElement) || globalThis.document.activeElement === globalThis.document.body;
    if (this.shown === step || !step.edits) this.show(null);
    if (!step.edits) {
      this.editor.notify(gettext("This can't be undone: the text has changed since. See the draft history."));
      return;
    }
    document.edit(step.edits, "other");
    // Everything is as it was: so are the places of what was changed before it.
    if (document.text === step.before) {
      for (const [one, edits] of step.below) one.edits = edits;
    }
    if (this.editor.here !== document) this.editor.open(document.name);
    else this.editor.drawForm(document);
    this.editor.notify(step.words ? interpolate(gettext("%(change)s: undone"), { change: step.words }, true) : gettext("Change undone"));
    if (isLost) this.focus(this.buttons(document)[step.button]);
  }

  focus(control) {
    for (let fold = control?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    control?.focus();
  }

  show(step) {
    if (!step && !this.shown) return;
    this.shown = step;
    this.place.replaceChildren();
    if (!step) return;
    const undo = h("button", { type: "button", class: "btn btn--sm btn--primary", onclick: () => this.back(step) }, gettext("Undo"));
    const dismiss = h("button", { type: "button", class: "btn btn--sm", onclick: () => this.show(null) }, gettext("Dismiss"));
    this.place.append(h("div", { class: "editor-said undo-notice" }, h("p", {}, step.words), h("div", { class: "row" }, undo, dismiss)));
    // By a key, the button that was pressed is gone and the focus with it; a click leaves nobody without a place.
    const { event } = window;
    if (event?.type === "click" && event.detail === 0) undo.focus();
  }
}
