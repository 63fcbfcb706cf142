import { h } from "./dom.js";

// One file of the bundle. Its text is the one source of truth: the text area that the form sends, the code editor and the
// form beside it all follow it.
//
// The form sends a hidden field. Writing into a text area, even one that nobody sees, ends what a browser undoes in one step:
// written with each letter, a field of the form would undo letter by letter, and a long text would be slow to type in. So the
// area follows after a pause.
const PAUSE_MS = 500;

export class Document {
  constructor(panel) {
    this.panel = panel;
    this.name = panel.dataset.file;
    this.area = panel.querySelector("textarea");
    this.field = this.area.name;
    this.code = null;
    this.listeners = [];
    this.revision = 0;
    this.value = this.area.value;
    this.pause = 0;
    this.carrier = h("input", { type: "hidden", name: this.field, autocomplete: "off", value: this.value });
    this.area.removeAttribute("name");
    this.area.after(this.carrier);
    this.area.addEventListener("input", (event) => {
      // What something else put into the area; our own events are not trusted and carry our mark.
      if (!event.detail?.ours && this.area.value !== this.value) this.replace(this.area.value, "area");
    });
  }

  get text() {
    return this.value;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  // `origin`: "code", "form", "area", "fix" or "other".
  taken(text, origin) {
    if (text === this.value) return;
    this.value = text;
    this.revision += 1;
    this.carrier.value = text;
    clearTimeout(this.pause);
    if (origin === "form" || origin === "code") this.pause = setTimeout(() => this.write(), PAUSE_MS);
    else this.write();
    for (const listener of this.listeners) listener(origin);
    this.area.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { ours: true } }));
  }

  write() {
    this.area.value = this.value;
  }

  replace(text, origin) {
    if (text === this.value) return;
    if (this.code) this.code.replace([{ from: 0, to: this.code.length, insert: text }], origin);
    else this.taken(text, origin);
  }

  // `effects` are CodeMirror's, undone with the edits; without it there are none.
  edit(edits, origin, effects) {
    if (!edits.length) return;
    if (this.code) this.code.replace(edits, origin, effects);
    else {
      let text = this.value;
      for (const { from, to, insert } of [...edits].sort((a, b) => b.from - a.from)) {
        text = text.slice(0, from) + insert + text.slice(to);
      }
      this.taken(text, origin);
    }
  }
}
