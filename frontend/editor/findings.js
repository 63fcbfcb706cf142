// The server's findings: marks in the text and in the forms, the way from a finding to its place, and fixes.
import { FieldFindings } from "./field-findings.js";
import { gettext, interpolate } from "./gettext.js";

export class Findings {
  constructor(editor) {
    this.editor = editor;
    this.root = document.getElementById("findings");
    this.checked = new Map();
    this.fields = new FieldFindings((finding) => editor.goTo(finding));
    this.remember();
    editor.form.addEventListener("click", (event) => {
      const place = event.target.closest("a.issue__place");
      const fix = event.target.closest("[data-fix]");
      const all = event.target.closest("[data-fix-all]");
      if (place) {
        event.preventDefault();
        editor.goToFinding(read(place.closest(".issue")));
      } else if (all) this.applyAll(JSON.parse(all.dataset.fixAll));
      else if (fix) this.apply(JSON.parse(fix.dataset.fix), fix.closest(".field-findings")?.control);
    });
    document.body.addEventListener("htmx:beforeRequest", (event) => {
      const elt = event.detail.elt;
      if (elt === editor.form || elt.matches("[data-save]")) event.detail.xhr.studioTexts = this.now();
    });
    document.body.addEventListener("htmx:afterSwap", (event) => {
      const texts = event.detail.xhr?.studioTexts;
      if (texts) this.checked = texts;
      this.draw();
      this.say();
      // A message that counts what is to be done is no longer true.
      if (texts && !this.root.querySelector(".issue")) for (const toast of document.querySelectorAll(".messages [data-toast]")) toast.remove();
    });
  }

  now() {
    return new Map(this.editor.documents.map((one) => [one.name, one.text]));
  }

  remember() {
    this.checked = this.now();
  }

  list() {
    return [...this.root.querySelectorAll(".issue")].map((item) => {
      const fixes = [...item.querySelectorAll("[data-fix]")];
      return { ...read(item), fixes: fixes.map((one) => ({ label: one.textContent.trim(), apply: () => this.apply(JSON.parse(one.dataset.fix)) })) };
    });
  }

  // The one at a place of a file that an address named.
  at({ file, line, column }) {
    return this.list().find((one) => one.file === file && one.line === line && one.column === column);
  }

  // Offsets belong to the text that was checked; where it has moved on, the next check brings new ones.
  isStale(document) {
    if (document.text === this.checked.get(document.name)) return false;
    document.area.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: { ours: true } }));
    return true;
  }

  // What is of one kind, fixed at once; the notice offers to undo it.
  applyAll(fixes) {
    for (const { file, edits } of fixes) {
      const document = this.editor.documentOf(file);
      if (!document || this.isStale(document)) continue;
      this.editor.undo.record(document, { words: gettext("Issues fixed") }, () => { document.edit(edits, "fix"); });
      this.editor.open(file);
    }
  }

  apply({ file, edits }, control) {
    const document = this.editor.documentOf(file);
    if (!document || this.isStale(document)) return;
    const at = control?.dataset.at;
    document.edit(edits, "fix");
    this.editor.open(file, { part: this.editor.here.name === file ? this.editor.part : "" });
    // The button went with its finding.
    if (at) document.formRoot.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus();
  }

  drawIn(document) {
    const own = this.list().filter((one) => one.file === document.name);
    this.fields.draw(document.form, own, document.text === this.checked.get(document.name));
  }

  draw() {
    const found = this.list();
    for (const document of this.editor.documents) {
      const own = found.filter((one) => one.file === document.name);
      if (document === this.editor.here) this.drawIn(document);
      document.code?.setFindings(own.filter((one) => document.text === this.checked.get(document.name) || one.line));
    }
    const badge = window.document.querySelector("[data-findings-count]");
    if (badge) {
      // The list is cut where it is very long, and has what is waived too; its head counts what is to be done.
      const { errors, warnings } = this.root.querySelector(".findings-head").dataset;
      const count = Number(errors) + Number(warnings);
      badge.textContent = String(count);
      badge.dataset.mark = Number(errors) ? "error" : count ? "warning" : "";
    }
  }

  say() {
    const tags = [...this.root.querySelectorAll(".findings-head .badge")].map((tag) => tag.textContent.trim());
    const said = document.getElementById("findings-said");
    const words = interpolate(gettext("Issues: %(list)s"), { list: tags.join(", ") }, true);
    if (said.textContent !== words) said.textContent = words;
  }
}

function read(item) {
  const place = item.querySelector(".issue__place");
  const words = [item.querySelector(".issue__message")?.textContent, item.querySelector(".issue__hint")?.textContent];
  const { file, line, column, field } = place?.dataset ?? {};
  return {
    item, file, line: Number(line) || null, column: Number(column) || 1, field,
    isWritten: Boolean(place) && !("unwritten" in place.dataset),
    severity: ["error", "waived"].find((one) => item.classList.contains(`issue--${one}`)) ?? "warning",
    message: words.filter(Boolean).map((one) => one.trim()).join(" "),
  };
}
