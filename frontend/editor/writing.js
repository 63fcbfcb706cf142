// The instructions in the editor: one document with its menus, and the way to each of its sections.
import { h } from "./dom.js";
import { gettext } from "./gettext.js";
import { isNamed, outline, placeFor, sectionText } from "./skill-text.js";

const prose = () => require("./prose.js");

export class Writing {
  // A document is edited as text in each view.
  isText = true;

  constructor(document, root, editor) {
    Object.assign(this, { document, root, editor, draws: 0 });
    const menu = (words, letter, key) => h("button", { type: "button", class: "btn btn--sm btn--ghost", onclick: () => prose().type(this.document.code.view, letter) }, words, " ", h("kbd", {}, key));
    root.removeAttribute("role");
    root.removeAttribute("aria-label");
    root.append(h("div", { class: "row", role: "group", "aria-label": gettext("Insert") }, menu(gettext("Insert"), "/", "/"), menu(gettext("Tool or form"), "@", "@")));
  }

  draw() {
    this.draws += 1;
    this.document.code?.draw(this.editor.mode === "form", gettext("Instructions"));
  }

  place() {
    return null;
  }

  // To a section by its number in the outline, `/0`; `+Examples` names one that is missing, and is added.
  goToPart(part) {
    const { view } = this.document.code;
    let found = outline(this.document.text);
    if (part.startsWith("+")) {
      this.add(part.slice(1), found);
      found = outline(this.document.text);
    }
    const section = part.startsWith("+") ? found.sections.find((one) => one.title === part.slice(1)) : found.sections[Number(part.slice(1))];
    if (!section) return view.focus();
    const at = section.body.from === section.body.to ? prose().bodyPlace(view.state.doc, section) : section.body.from;
    this.document.code.show(at, section.start);
    return undefined;
  }

  add(name, found) {
    const required = this.editor.facts().sections();
    const rule = required.find((one) => one.name === name);
    if (!rule || found.sections.some((one) => isNamed(one.title, rule))) return;
    const at = placeFor(found, required, rule, this.document.text.length);
    const insert = sectionText(this.document.text, at, name, "");
    this.document.edit([{ from: at, to: at, insert }], "other");
  }
}
