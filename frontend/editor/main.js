// The editor of a bundle: four files, each as a form and as text, with what readers would see beside them.
import { CapabilityForm } from "./capability-form.js";
import { Comments } from "./comments.js";
import { Document } from "./document.js";
import { controlOf } from "./field-findings.js";
import { Findings } from "./findings.js";
import { parse, get, pointerOf } from "./json-text.js";
import { Outline } from "./outline.js";
import { Preview } from "./preview.js";
import { Saving } from "./saving.js";
import { gettext } from "./gettext.js";
import { ScreensForm } from "./screens-form.js";
import { ToolsForm } from "./tools-form.js";
import { Undo } from "./undo.js";
import { Writing } from "./writing.js";

const FORMS = { "capability.json": CapabilityForm, "skill.md": Writing, "tools.json": ToolsForm, "ui_schemas.json": ScreensForm };
// CodeMirror is most of this script. It is set up with the first text that is shown, or while nobody waits: at once with
// the page it would hold that up.
const codeEditor = () => require("./code.js").Code;

class Editor {
  constructor(form) {
    this.form = form;
    this.capabilityId = form.dataset.capability;
    this.given = JSON.parse(document.getElementById("editor-facts").textContent);
    this.samples = new Set(this.given.samples);
    this.documents = [...form.querySelectorAll(".file")].map((panel) => new Document(panel));
    this.parsed = new Map();
    // The first screen is for writing, unless another was asked for: one alone is drawn.
    this.here = this.documentOf(new URLSearchParams(location.search).get("file")) ?? this.documentOf("skill.md");
    // The entry or the section that was chosen, as the outline names it; "" for all of them.
    this.part = "";
    this.undo = new Undo(this);
    for (const one of this.documents) this.prepare(one);
    this.outline = new Outline(this);
    this.findings = new Findings(this);
    this.saving = new Saving(this);
    this.preview = new Preview(this);
    this.comments = new Comments(this);
    this.switchModes();
    this.start();
  }

  documentOf(name) {
    return this.documents.find((one) => one.name === name);
  }

  // What the forms and the completion know of the four files as they stand.
  facts() {
    const names = (file, key, base) => {
      const list = this.value(file, []);
      const entries = Array.isArray(list) ? list : Array.isArray(list?.[base]) ? list[base] : [];
      if (!base && list && !Array.isArray(list)) return Object.keys(list);
      return entries.map((one) => one?.[key]).filter((one) => typeof one === "string");
    };
    return {
      schemas: this.given.schemas,
      suggestedTriggers: this.given.suggested_triggers,
      skillGroups: this.given.skill_groups,
      tools: () => names("tools.json", "name", "tools"),
      forms: () => names("ui_schemas.json", "schema_id", ""),
      toolNamed: (name) => this.tools().find((one) => one?.name === name),
      formNamed: (name) => this.formNamed(name),
      samples: this.samples,
      profile: () => this.value("capability.json", ["skill_profile"]) ?? "capability",
      name: () => this.value("capability.json", ["name"]) ?? this.capabilityId,
      sections: () => this.sections(),
    };
  }

  // The tools as they are written, wherever the file holds them.
  tools() {
    const list = this.value("tools.json", []);
    return Array.isArray(list) ? list : Array.isArray(list?.tools) ? list.tools : [];
  }

  formNamed(name) {
    const forms = this.value("ui_schemas.json", []);
    if (Array.isArray(forms)) return forms.find((one) => one?.schema_id === name);
    return forms && Object.hasOwn(forms, name) ? forms[name] ?? {} : undefined;
  }

  sections() {
    const profile = this.facts().profile();
    const all = this.given.sections[profile] ?? [];
    const isNeeded = { Tools: () => this.facts().tools().length > 0, UI: () => this.facts().forms().length > 0 };
    return all.filter((one) => profile !== "capability" || !(one.name in isNeeded) || isNeeded[one.name]());
  }

  value(file, path) {
    const { text, revision } = this.documentOf(file);
    if (this.parsed.get(file)?.revision !== revision) {
      let tree = null;
      try {
        tree = parse(text);
      } catch {
        // Not JSON for now: whoever asks goes on without.
      }
      this.parsed.set(file, { revision, tree, whole: tree ? get(tree, []) : undefined });
    }
    const { tree, whole } = this.parsed.get(file);
    if (!path.length) return whole;
    return tree ? get(tree, path) : undefined;
  }

  prepare(one) {
    const { panel } = one;
    one.formRoot = panel.querySelector(".form-view");
    // Enter in a field is not a wish to save, and what is typed there reaches the server through the text alone.
    one.formRoot.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.matches("input")) {
        event.preventDefault();
        if (!event.target.matches(".chip-input")) event.target.dispatchEvent(new Event("change", { bubbles: true }));
      }
    });
    one.formRoot.addEventListener("input", (event) => event.stopPropagation());
    one.formRoot.addEventListener("change", (event) => event.stopPropagation());
    one.form = new FORMS[one.name](one, one.formRoot, this);
    one.onChange((origin) => this.changed(one, origin));
  }

  changed(one, origin) {
    this.undo.changed(one);
    this.saving.changed();
    this.preview.later();
    clearTimeout(one.drawing);
    if (origin === "form") return;
    one.isBehind = true;
    one.drawing = setTimeout(() => this.drawForm(one), 250);
  }

  drawForm(one) {
    if (one !== this.here || (this.mode === "text" && !one.form.isText) || one.isBehind === false) return;
    one.isBehind = false;
    one.form.draw();
  }

  mount(one) {
    if (one.code || (this.mode === "form" && !one.form.isText)) return;
    const Code = codeEditor();
    one.code = new Code(one, () => this.facts(), { pasted: () => this.notifyPasted(), go: (found) => this.goToNamed(found), moved: () => this.comments.place(), decided: (one) => this.comments.decided(one) });
    one.panel.querySelector(".code").append(one.code.view.dom);
    one.panel.classList.add("has-code");
    if (one === this.comments.document) this.comments.draw();
  }

  switchModes() {
    const button = this.form.querySelector("[data-code]");
    button.hidden = false;
    let mode = "form";
    try {
      mode = localStorage.getItem("editor-mode") ?? mode;
    } catch {
      // Storage is shut off: the choice holds for this page.
    }
    button.addEventListener("click", () => this.setMode(this.mode === "form" ? "text" : "form", { keep: true }));
    this.chosen = mode === "text" ? mode : "form";
    this.setMode(this.chosen);
  }

  // `keep`: it is what the reader has chosen, to which the outline leads back from where a place of the text was shown.
  setMode(mode, { keep = false } = {}) {
    this.mode = mode;
    if (keep) this.chosen = mode;
    this.form.dataset.mode = mode;
    this.form.querySelector("[data-code]").setAttribute("aria-pressed", String(mode === "text"));
    if (keep) {
      try {
        localStorage.setItem("editor-mode", mode);
      } catch {
        // As above.
      }
    }
    this.open(this.here.name, { part: this.part });
  }

  open(name, { part = "" } = {}) {
    this.here = this.documentOf(name);
    this.part = part;
    for (const one of this.documents) one.panel.hidden = one !== this.here;
    // What another file says changes this one's choices: tools for forms, the profile for sections.
    this.here.isBehind = true;
    this.mount(this.here);
    this.drawForm(this.here);
    this.here.code?.view.requestMeasure();
    this.findings.draw();
    this.outline.mark();
    this.comments?.follow();
    this.comments?.place();
  }

  // From the outline: to a part in whatever view there is, and beside it what readers would get of it.
  choose({ file, part, line = 1 }) {
    if (this.mode !== this.chosen) this.setMode(this.chosen);
    this.open(file, { part });
    if (this.here.form.isText && part) return this.here.form.goToPart(part);
    if (this.mode !== "form" && part) this.here.code.goTo(line, 1);
    const place = this.mode === "form" && this.here.form.partAt?.(part);
    if (place) {
      if (place.localName === "details") place.open = true;
      place.scrollIntoView({ block: "start" });
      controlOf(place)?.focus({ preventScroll: true });
    } else document.documentElement.scrollTop = 0;
    this.preview.follow(file, part);
    return undefined;
  }

  // From a chip to its tool or form.
  goToNamed({ name, file }) {
    const whole = this.value(file, []);
    const list = Array.isArray(whole) ? whole : file === "tools.json" ? whole.tools : null;
    const at = list?.findIndex((one) => one?.[file === "tools.json" ? "name" : "schema_id"] === name);
    this.choose({ file, part: pointerOf([...(list && list !== whole ? ["tools"] : []), list ? at : name]) });
  }

  // To the field of the form that writes what a finding is about; to its place in the text where the form has none.
  goToFinding(finding) {
    const { form } = this.documentOf(finding.file) ?? {};
    if (this.mode !== "form" || !form || form.isText) return this.goTo(finding);
    this.open(finding.file, { part: form.partOf?.(finding) ?? "" });
    const place = finding.isWritten ? form.place(finding) : null;
    if (place) {
      const control = controlOf(place);
      for (let fold = control.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      control.focus();
      control.scrollIntoView({ block: "center" });
      return undefined;
    }
    this.goTo(finding);
    if (finding.item && finding.line) this.notify(gettext("This can only be edited in code."));
    return undefined;
  }

  // To a place of the text.
  goTo({ file, line, column }) {
    if (!this.documentOf(file)) return;
    if (this.here.name !== file) this.part = "";
    this.here = this.documentOf(file);
    this.setMode(this.here.form.isText ? this.mode : "text");
    if (line) this.here.code.goTo(line, column ?? 1);
    else this.here.code.view.focus();
  }

  showForm(schemaId) {
    this.preview.form = schemaId;
    this.preview.show("forms");
    document.getElementById("preview").scrollIntoView({ block: "nearest" });
  }

  async makeForm(tool) {
    try {
      const made = await this.preview.ask(this.form.dataset.makeForm, { tool });
      if (!made.texts) return this.notify(made.words);
      for (const [file, text] of Object.entries(made.texts)) this.documentOf(file).replace(text, "other");
      this.here.form.draw();
      this.notify(made.words);
      this.showForm(made.schema_id);
    } catch (error) {
      if (error.name !== "AbortError") this.notify(error.message);
    }
    return undefined;
  }

  notify(words) {
    const said = document.getElementById("editor-said");
    said.textContent = words;
    said.hidden = false;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => { said.hidden = true; }, 8000);
  }

  notifyPasted() {
    this.notify(gettext("Pasted as Markdown. Ctrl+Shift+V pastes plain text."));
  }

  start() {
    this.form.classList.add("is-live");
    document.querySelector(".editor-foot")?.addEventListener("submit", () => this.saving.leave());
    // Going back, a browser may show the page as it first was, from before it was saved; what the server has is newer.
    const [navigation] = performance.getEntriesByType("navigation");
    if (navigation?.type === "back_forward" && !this.saving.isDirty()) location.reload();
    const asked = Object.fromEntries(new URLSearchParams(location.search));
    if (!asked.file || !this.documentOf(asked.file)) return;
    // The part behind # is for browsers without scripts; following it would take the focus away again.
    history.replaceState(null, "", location.pathname + location.search);
    const place = { file: asked.file, line: Number(asked.line) || null, column: Number(asked.column) || 1 };
    // A link to a file or to a part, as the outline has them before this script has come, is not one to a finding.
    if (asked.part || !place.line) this.choose({ file: asked.file, part: asked.part, line: place.line ?? 1 });
    else this.goToFinding(this.findings.at(place) ?? { ...place, isWritten: true });
  }
}

const form = document.getElementById("editor");
if (form) {
  new Editor(form);
  setTimeout(codeEditor, 500);
}
