// Comments of the review beside the document: at their sentence where there is a margin, in a list below it else.
import { gettext } from "./gettext.js";

const marking = () => require("./comment-marks.js");
const GAP = 8;
// As in files.css: from here on notes stand at their lines.
const MARGIN = "(min-width: 76rem)";

export class Comments {
  constructor(editor) {
    this.editor = editor;
    this.root = document.getElementById("comments");
    this.document = editor.documentOf("skill.md");
    // One after the other: what is undone at once must not come before what was done.
    this.sent = Promise.resolve();
    document.addEventListener("submit", (event) => this.submit(event));
    this.root.addEventListener("click", (event) => {
      const note = event.target.closest(".margin-note");
      if (event.target.closest("[data-go]")) this.goTo(note);
      else if (event.target.closest("[data-accept]")) this.accept(note);
    });
    // What is typed in an answer is not of the draft.
    for (const name of ["input", "change"]) this.root.addEventListener(name, (event) => event.stopPropagation());
    this.root.addEventListener("toggle", () => this.place(), true);
    addEventListener("resize", () => this.place());
  }

  get notes() {
    return [...this.root.querySelectorAll(".margin-note")];
  }

  get view() {
    return this.document.code?.view;
  }

  draw() {
    this.follow();
    for (const hidden of this.root.querySelectorAll("[data-go], [data-accept]")) hidden.hidden = false;
    if (!this.view) return;
    marking().markComments(this.view, this.notes.filter((one) => one.dataset.line).map((one) => ({ id: one.dataset.comment, line: Number(one.dataset.line) })));
    this.place();
  }

  follow() {
    this.editor.form.classList.toggle("with-comments", this.notes.length > 0 && this.editor.here === this.document);
  }

  // Each beside its line, below the one before it.
  place() {
    const { view } = this;
    if (!view || !this.notes.length) return;
    const places = marking().placesOf(view.state);
    view.requestMeasure({
      key: this,
      read: () => this.notes.map((note) => {
        const at = places.get(note.dataset.comment);
        return { note, top: at ? view.lineBlockAt(at.from).top + view.documentPadding.top : Infinity, height: note.offsetHeight };
      }),
      write: (found) => {
        let below = 0;
        for (const { note, top, height } of found.sort((a, b) => Number(a.top > b.top) - Number(a.top < b.top))) {
          // What has no line comes last.
          const y = Number.isFinite(top) ? Math.max(top, below) : below;
          note.style.top = `${Math.round(y)}px`;
          below = y + height + GAP;
        }
        this.root.style.minHeight = matchMedia(MARGIN).matches ? `${Math.round(below)}px` : "";
      },
    });
  }

  goTo(note) {
    const at = marking().placesOf(this.view.state).get(note.dataset.comment);
    if (at) this.document.code.show(at.to, at.from);
    else this.editor.notify(gettext("The line is gone."));
  }

  // The line becomes what is suggested, and the comment is done; one undo takes back both.
  accept(note) {
    const at = marking().placesOf(this.view.state).get(note.dataset.comment);
    if (!at) return this.goTo(note);
    const { doc } = this.view.state;
    const [from, to] = [doc.lineAt(at.from).from, doc.lineAt(at.to).to];
    const { comment: id } = note.dataset;
    const effects = [marking().acceptance.of({ id, isAccepted: true })];
    this.document.edit([{ from, to, insert: note.querySelector("[data-accept]").dataset.accept }], "fix", effects);
    this.editor.notify(gettext("Suggestion accepted, and the comment is done. Ctrl+Z takes both back."));
    return this.decided({ id, isAccepted: true });
  }

  decided({ id, isAccepted }) {
    const form = document.getElementById(`answer-${id}`);
    const { resolve, reopen } = form.dataset;
    return this.send(form, { to: isAccepted ? resolve : reopen, more: { accepted: "yes" } }).then(() => this.view?.focus());
  }

  submit(event) {
    const form = event.target;
    if (!form.matches(".comment-form")) return;
    event.preventDefault();
    const button = event.submitter;
    button.setAttribute("aria-busy", "true");
    this.send(form, { to: button.getAttribute("formaction") ?? form.action }).then(() => button.removeAttribute("aria-busy"));
  }

  send(form, { to, more = {} }) {
    const body = new FormData(form);
    // The lines are those of the text as it stands here, saved or not.
    for (const [name, value] of Object.entries({ ...more, [this.document.field]: this.document.text })) body.set(name, value);
    this.sent = this.sent.then(() => this.post(to, body));
    return this.sent;
  }

  async post(to, body) {
    try {
      const response = await fetch(to, { method: "POST", body, headers: { "HX-Request": "true" } });
      if (!response.ok) throw new Error(gettext("Couldn't save the comment. You may be signed out."));
      this.root.innerHTML = await response.text();
      this.draw();
      this.root.focus({ preventScroll: true });
    } catch (error) {
      this.editor.notify(error instanceof TypeError ? gettext("Can't reach the server.") : error.message);
    }
  }
}
