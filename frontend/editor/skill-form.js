// skill.md section by section; a playbook's steps with Do, Check and Say. Each field is a stretch of the text.
import { button, text } from "./controls.js";
import { drawWhenSettled, h, isLeaving, keepingFocus } from "./dom.js";
import { gettext, interpolate } from "./gettext.js";
import { pasteInto } from "./paste.js";
import { isNamed, outline, placeFor, sectionText } from "./skill-text.js";

const PARTS = [["do", "Do", gettext("What the agent does.")], ["check", "Check", gettext("What must be true before going on.")], ["say", "Say", gettext("What to tell the customer.")]];

export class SkillForm {
  constructor(document, root, editor) {
    Object.assign(this, { document, root, editor });
    this.stretches = [];
    this.draws = 0;
  }

  draw() {
    this.draws += 1;
    keepingFocus(this.root, () => {
      this.stretches = [];
      this.root.replaceChildren(...this.content(outline(this.document.text)).filter(Boolean));
    });
    this.editor.findings?.drawIn(this.document);
  }

  // A field over a stretch. It keeps its own bounds while it is typed in, so that a heading typed into it stays in it.
  bound(label, stretch, { at, rows, help, oneLine = false, ...more }) {
    const own = { from: stretch.from, to: stretch.to };
    this.stretches.push(own);
    const made = text(label, this.document.text.slice(own.from, own.to), {
      at, rows, help, ...more,
      changed: (now) => this.put(own, oneLine ? now.replaceAll("\n", " ") : now),
    });
    own.field = made.querySelector("input, textarea");
    // The sections' own headings are of level 2: what is pasted into one begins below.
    if (rows) own.field.addEventListener("paste", (event) => pasteInto(own.field, event, { top: 3 }) && this.editor.notifyPasted());
    return made;
  }

  // The stretch with a field that holds a place of the text, and the line there. Findings may be of a longer text.
  stretchAt({ line, column }) {
    const rows = this.document.text.split("\n");
    if (line > rows.length) return undefined;
    const start = rows.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
    const at = start + [...rows[line - 1]].slice(0, column - 1).join("").length;
    const own = this.stretches.filter((one) => one.field && one.from <= at && at <= one.to).at(-1);
    return own && { own, from: Math.max(0, start - own.from), to: Math.min(own.to, start + rows[line - 1].length) - own.from };
  }

  place(finding) {
    return finding.line ? this.stretchAt(finding)?.own.field : null;
  }

  // The section that the outline names.
  partAt(part) {
    return part ? this.root.querySelector(`[data-part="${part}"]`) : null;
  }

  // Marks the line in the field that was gone to.
  mark(finding) {
    const found = this.stretchAt(finding);
    if (!found) return;
    const { field } = found.own;
    // What is typed over it is the sentence: the mark of a list and who speaks stay.
    const [lead] = /^\s*(?:[-*]\s+)?(?:\*\*[^*]+:\*\*\s*)?/.exec(field.value.slice(found.from, found.to));
    field.setSelectionRange(found.from + lead.length, found.to);
  }

  put(own, words) {
    const { text: now } = this.document;
    // The first words below a heading need a line of their own.
    const isOpening = own.from === own.to && words && own.from > 0 && now[own.from - 1] !== "\n" && !own.inLine;
    const insert = isOpening ? `\n\n${words}` : words;
    const { from, to } = own;
    const grown = insert.length - (to - from);
    for (const one of this.stretches) {
      if (one === own) continue;
      if (one.from >= to) one.from += grown;
      if (one.to >= to) one.to += grown;
    }
    own.from = from + (isOpening ? 2 : 0);
    own.to = from + insert.length;
    this.document.edit([{ from, to, insert }], "form");
  }

  // Adds or moves something.
  redraw(edits) {
    this.change({ isStructure: true }, edits);
  }

  // Removes what `words` name, such as "Section removed"; the notice with these words offers to undo it.
  remove(words, stretch) {
    this.change({ words }, [{ from: stretch.from, to: stretch.to, insert: "" }]);
  }

  change(kind, edits) {
    this.editor.undo.record(this.document, kind, () => { this.document.edit(edits, "form"); });
    if (isLeaving(window.event)) drawWhenSettled(this);
    else this.draw();
  }

  // A stretch that no field shows, and that moves with what is typed before it: buttons act on the text as it is then.
  tracked(from, to) {
    const stretch = { from, to };
    this.stretches.push(stretch);
    return stretch;
  }

  content(found) {
    for (const section of found.sections) {
      section.whole = this.tracked(section.start, section.end);
      for (const step of section.steps) step.whole = this.tracked(step.start, step.end);
    }
    const required = this.editor.facts().sections();
    const missing = required.filter((section) => !found.sections.some((one) => isNamed(one.title, section)));
    return [
      found.title ? this.bound(gettext("Title"), found.title, { at: "title", oneLine: true })
        : h("div", { class: "form-group is-missing" }, h("h3", {}, gettext("Title")), h("p", { class: "field__hint" }, gettext("The instructions start with the name of the capability.")),
          button(gettext("Add title"), () => this.addTitle(), { at: "add-title" })),
      found.intro.from < found.intro.to ? this.bound(gettext("Introduction"), found.intro, { at: "intro", rows: 3 }) : null,
      ...found.sections.map((section, index) => this.section(section, index, required)),
      ...missing.map((section) => this.absent(section, required)),
      this.more(),
    ];
  }

  addTitle() {
    const { text: now } = this.document;
    const front = /^---[ \t]*\n[\s\S]*?\n---[ \t]*(?:\n|$)/.exec(now)?.[0].length ?? 0;
    this.redraw([{ from: front, to: front, insert: `# ${this.editor.facts().name()}\n\n` }]);
  }

  section(section, index, required) {
    const demand = required.find((one) => isNamed(section.title, one));
    const isSteps = this.editor.facts().profile() === "playbook" && section.title.trim().toLowerCase() === "steps";
    const at = `section-${section.title}-${index}`;
    const rows = Math.min(14, Math.max(3, this.document.text.slice(section.body.from, section.body.to).split("\n").length + 1));
    return h("section", { class: "form-group", "data-part": `/${index}` },
      h("div", { class: "group-head" }, h("h3", {}, section.title || gettext("Unnamed")),
        demand ? h("span", { class: "badge" }, gettext("Required")) : button(gettext("Remove"), () => this.remove(gettext("Section removed"), section.whole), { label: interpolate(gettext("Remove section %(name)s"), { name: section.title }, true) })),
      isSteps ? this.steps(section) : this.bound(interpolate(gettext("Text of %(name)s"), { name: section.title }, true), section.body, { at, rows, help: demand?.hint, class: "mono", isLabelled: true }));
  }

  absent(section, required) {
    const add = () => {
      const { text: now } = this.document;
      const at = placeFor(outline(now), required, section, now.length);
      const body = section.name === "Steps" ? "### 1.\n\n**Do:** \n**Check:** \n**Say:** " : section.start ?? section.hint;
      this.redraw([{ from: at, to: at, insert: sectionText(now, at, section.name, body) }]);
    };
    return h("section", { class: "form-group is-missing" }, h("div", { class: "group-head" }, h("h3", {}, section.name), h("span", { class: "badge badge--danger" }, gettext("Missing"))),
      h("p", { class: "field__hint" }, section.hint), button(interpolate(gettext("Add %(name)s"), { name: section.name }, true), add, { at: `add-${section.name}` }));
  }

  more() {
    return text(gettext("Add section"), "", {
      at: "add-section", onleave: true, help: gettext("Section title, then Enter. You can add more sections."),
      changed: (name) => {
        if (!name.trim()) return;
        const end = this.document.text.length;
        this.redraw([{ from: end, to: end, insert: sectionText(this.document.text, end, name.trim().replaceAll("\n", " "), "") }]);
      },
    });
  }

  steps(section) {
    const add = () => {
      const number = section.steps.length + 1;
      const at = section.whole.to;
      const { text: now } = this.document;
      const before = now.slice(0, at).endsWith("\n\n") ? "" : now.slice(0, at).endsWith("\n") ? "\n" : "\n\n";
      this.redraw([{ from: at, to: at, insert: `${before}### ${number}.\n\n**Do:** \n**Check:** \n**Say:** \n${at < now.length ? "\n" : ""}` }]);
    };
    return h("div", { class: "steps" },
      section.steps.map((step, index) => this.step(step, index, section)),
      button(gettext("Add step"), add, { at: "add-step" }));
  }

  step(step, index, section) {
    const number = { number: index + 1 };
    const body = (part) => this.document.text.slice(part.from, part.to);
    const swap = (other) => {
      const { text: now } = this.document;
      const [a, b] = index < other ? [step, section.steps[other]] : [section.steps[other], step];
      const renumber = (words, number) => words.replace(/^(### +)\d+/, `$1${number}`);
      const [first, second] = [Math.min(index, other) + 1, Math.max(index, other) + 1];
      const whole = (one) => now.slice(one.whole.from, one.whole.to).trimEnd();
      this.redraw([
        { from: a.whole.from, to: a.whole.from + whole(a).length, insert: renumber(whole(b), first) },
        { from: b.whole.from, to: b.whole.from + whole(b).length, insert: renumber(whole(a), second) },
      ]);
    };
    const missing = PARTS.filter(([key]) => !step.parts[key]);
    const addPart = ([, word]) => {
      const end = step.whole.from + body(step.whole).trimEnd().length;
      this.redraw([{ from: end, to: end, insert: `\n**${word}:** ` }]);
    };
    return h("section", { class: "step" },
      this.bound(interpolate(gettext("Step %(number)s"), number, true), step.heading, { at: `step-${index}`, oneLine: true }),
      PARTS.filter(([key]) => step.parts[key]).map(([key, word, help]) => this.inline(word, step.parts[key], { at: `step-${index}-${key}`, help, rows: Math.max(2, body(step.parts[key]).split("\n").length) })),
      h("div", { class: "row" },
        missing.map((part) => button(interpolate(gettext("Add %(name)s"), { name: part[1] }, true), () => addPart(part), { label: interpolate(gettext("Add %(name)s to step %(number)s"), { name: part[1], ...number }, true) })),
        button(gettext("Move up"), () => swap(index - 1), { disabled: index === 0, label: interpolate(gettext("Move step %(number)s up"), number, true) }),
        button(gettext("Move down"), () => swap(index + 1), { disabled: index === section.steps.length - 1, label: interpolate(gettext("Move step %(number)s down"), number, true) }),
        button(gettext("Remove"), () => this.remove(gettext("Step removed"), step.whole), { label: interpolate(gettext("Remove step %(number)s"), number, true) })));
  }

  // Words that begin in the line of their mark.
  inline(label, stretch, more) {
    const made = this.bound(label, stretch, more);
    this.stretches.at(-1).inLine = true;
    return made;
  }
}
