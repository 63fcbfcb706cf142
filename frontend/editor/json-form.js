// What the forms over a JSON file have in common: they draw what the text says, and write back the smallest edit.
import { drawWhenSettled, h, isLeaving, keepingFocus } from "./dom.js";
import { applied, get, JsonFault, parse, rename, set, swap } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

const SLICE_MS = 8;

export class JsonForm {
  constructor(document, root, editor, empty) {
    Object.assign(this, { document, root, editor, empty });
    this.tree = null;
    this.draws = 0;
    // Folds of which the summary alone is drawn.
    this.folds = [];
  }

  // The text, or what an absent file stands for.
  source() {
    return this.document.text.trim() ? this.document.text : this.empty;
  }

  draw() {
    this.draws += 1;
    this.folds = [];
    keepingFocus(this.root, () => {
      try {
        this.tree = parse(this.source());
        this.root.replaceChildren(...this.content(this.tree));
      } catch (fault) {
        if (!(fault instanceof JsonFault)) throw fault;
        this.tree = null;
        this.root.replaceChildren(this.unreadable(fault));
      }
    });
    this.editor.findings?.drawIn(this.document);
    this.fillLater();
  }

  // What is in a fold is drawn when it is opened or needed, and otherwise by and by: all of 80 tools at once would hold up
  // the page, and a search of the browser should find it.
  fold(props, head, inside) {
    const made = h("details", props, head);
    let isFilled = false;
    made.fill = () => {
      if (!isFilled) made.append(...inside());
      isFilled = true;
    };
    for (const [target, event] of [[head, "click"], [made, "toggle"]]) target.addEventListener(event, made.fill);
    if (made.open) made.fill();
    else this.folds.push(made);
    return made;
  }

  fillLater() {
    clearTimeout(this.filling);
    this.filling = setTimeout(() => {
      const until = performance.now() + SLICE_MS;
      while (this.folds.length && performance.now() < until) this.folds.shift().fill();
      if (this.folds.length) this.fillLater();
    });
  }

  fill() {
    for (const fold of this.folds.splice(0)) fold.fill();
  }

  // The field or the row that a finding names, where it is drawn.
  place({ field }) {
    return field ? this.root.querySelector(`[data-field="${CSS.escape(field)}"]`) : null;
  }

  // Of the entries of a list, each with its pointer, the one that was chosen in the outline; all where it is gone.
  ofPart(entries) {
    const { part } = this.editor;
    const found = entries.filter((entry) => entry.part === part);
    return found.length ? found : entries;
  }

  // Changes how many entries there are: all of them are shown then.
  list(change) {
    this.editor.part = "";
    change();
    this.editor.outline.mark();
  }

  unreadable(fault) {
    const before = this.document.text.slice(0, fault.offset).split("\n");
    const place = { file: this.document.name, line: before.length, column: [...before.at(-1)].length + 1 };
    return h("div", { class: "banner banner--warning form-unreadable" },
      h("p", {}, interpolate(gettext("Invalid JSON at line %(line)s, column %(column)s. %(fault)s."), { ...place, fault: fault.message }, true)),
      h("p", {}, gettext("Your text is unchanged.")),
      h("button", { type: "button", class: "btn btn--sm", onclick: () => this.editor.goTo(place) }, gettext("Go to line")));
  }

  get(path) {
    return get(this.tree, path);
  }

  // Each change is [path, value] or a function of (text, tree) that answers edits. Returns the texts from the first to the
  // last.
  write(...changes) {
    let text = this.source();
    const texts = [this.document.text, text];
    for (const change of changes) {
      const tree = parse(text);
      text = applied(text, typeof change === "function" ? change(text, tree) : set(text, tree, ...change));
      texts.push(text);
    }
    texts.push(text.endsWith("\n") ? text : `${text}\n`);
    this.document.edit(smallest(this.document.text, texts.at(-1)), "form");
    this.tree = parse(this.source());
    return texts;
  }

  redraw(...changes) {
    this.change({}, ...changes);
  }

  // Adds or moves something.
  arrange(...changes) {
    this.change({ isStructure: true }, ...changes);
  }

  // Removes what `words` name, such as "Tool removed"; the notice with these words offers to undo it.
  remove(words, ...changes) {
    this.change({ words }, ...changes);
  }

  change(kind, ...changes) {
    this.editor.undo.record(this.document, kind, () => this.write(...changes));
    if (isLeaving(window.event)) drawWhenSettled(this);
    else this.draw();
  }

  rename(path, name) {
    return (_text, tree) => rename(tree, path, name);
  }

  swap(path, at, other) {
    return (text, tree) => swap(text, tree, path, at, other);
  }
}

// The one stretch in which two texts differ.
export function smallest(before, after) {
  if (before === after) return [];
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before[from] === after[from]) from += 1;
  let end = 0;
  while (end < most - from && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [{ from, to: before.length - end, insert: after.slice(from, after.length - end) }];
}

export const listOf = (value) => (Array.isArray(value) ? value.filter((one) => ["string", "number", "boolean"].includes(typeof one)) : []);
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// An optional text that was emptied is left out.
export const orNothing = (value) => (value === "" || (Array.isArray(value) && !value.length) ? undefined : value);
