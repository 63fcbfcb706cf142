// The outline: the parts of the draft as the server last found them, the one being edited, and the way to each of them.
import { gettext } from "./gettext.js";

export class Outline {
  constructor(editor) {
    this.editor = editor;
    this.root = document.getElementById("outline");
    this.fold = this.root.closest("details");
    this.here = this.fold.querySelector("[data-outline-here]");
    this.back = null;
    this.root.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-file]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      const { file, part = "", line } = link.dataset;
      // Where it covers the page, as on a phone, it gives way to what was chosen.
      if (this.fold.open) this.fold.open = false;
      editor.choose({ file, part, line: Number(line) || 1 });
    });
    // Each check sends it, mostly unchanged. Where it is replaced, the focus goes back to the same link.
    this.written = this.root.innerHTML.trim();
    this.isFresh = false;
    document.body.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
      if (detail.target !== this.root) return;
      const came = detail.fragment.innerHTML.trim();
      detail.shouldSwap = came !== this.written;
      if (!detail.shouldSwap) return;
      this.written = came;
      this.isFresh = true;
      const active = this.root.contains(document.activeElement) ? document.activeElement.dataset : null;
      this.back = active && { file: active.file, part: active.part ?? "" };
    });
    // It is said for each element that came with the answer.
    document.body.addEventListener("htmx:oobAfterSwap", () => {
      if (!this.isFresh) return;
      this.isFresh = false;
      this.mark();
      if (this.back) this.link(this.back)?.focus({ preventScroll: true });
      this.back = null;
    });
  }

  link({ file, part }) {
    return [...this.root.querySelectorAll("a[data-file]")].find((one) => one.dataset.file === file && (one.dataset.part ?? "") === part);
  }

  // Marks the part that is being edited.
  mark() {
    const { here, part } = this.editor;
    const now = this.link({ file: here.name, part }) ?? this.link({ file: here.name, part: "" });
    for (const one of this.root.querySelectorAll("[aria-current]")) one.removeAttribute("aria-current");
    now?.setAttribute("aria-current", "true");
    const words = now?.cloneNode(true);
    for (const one of words?.querySelectorAll(".end") ?? []) one.remove();
    this.here.textContent = words?.textContent.trim() || gettext("Outline");
  }
}
