// The instructions as one document: decorations draw the Markdown, and nothing but what is typed changes the text.
import { startCompletion } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { EditorSelection, Prec, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, placeholder, showTooltip, ViewPlugin, WidgetType } from "@codemirror/view";

import { h } from "./dom.js";
import { gettext } from "./gettext.js";
import { frontMatterEnd, isNamed, outline } from "./skill-text.js";
import { apart, enter, erase, home, toCell, toggle } from "./prose-keys.js";
import { calledIn, described, leadOf, speakerOf } from "./prose-text.js";

// The tools or the forms are others now, so are the chips.
export const namesChanged = StateEffect.define();
const setCard = StateEffect.define();

const ICONS = { read: "eye", write: "pencil", form: "layout-template" };

let sprite;
function icon(name) {
  sprite ??= document.querySelector("svg use")?.getAttribute("href").split("#")[0] ?? "";
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS("http://www.w3.org/2000/svg", "use"));
  svg.firstChild.setAttribute("href", `${sprite}#${name}`);
  return svg;
}

class Drawn extends WidgetType {
  constructor(key, draw) {
    super();
    Object.assign(this, { key, draw });
  }

  eq(other) {
    return this.key === other.key;
  }

  toDOM() {
    return this.draw();
  }

  ignoreEvent() {
    return false;
  }
}

const bullet = Decoration.replace({ widget: new Drawn("bullet", () => h("span", { class: "md-bullet" }, "•")) });
const hint = (words) => Decoration.widget({ side: 1, widget: new Drawn(`hint ${words}`, () => h("span", { class: "md-hint", "aria-hidden": "true" }, words)) });
// What is hidden at its begin is inside of it.
const mark = (names, attributes) => Decoration.mark({ class: names, attributes, inclusiveStart: true });
const hiding = Decoration.replace({});
const INLINE = { Emphasis: "md-em", StrongEmphasis: "md-strong", Strikethrough: "md-strike" };
const RAW = ["HTMLBlock", "CommentBlock", "ProcessingInstructionBlock", "LinkReference"];

// What is drawn of the lines in sight.
class Picture {
  constructor(view, facts) {
    const { state } = view;
    Object.assign(this, { view, state, facts: facts(), doc: state.doc, tree: syntaxTree(state), rows: new Map(), found: [], hidden: [], level: 2 });
    this.front = frontMatterEnd(this.doc.sliceString(0, 20_000));
    for (const range of view.visibleRanges) {
      [this.from, this.to] = [this.doc.lineAt(range.from).from, this.doc.lineAt(range.to).to];
      this.tree.iterate({ from: this.from, to: this.to, enter: (node) => this.enter(node) });
      this.plain();
    }
    for (const [from, { names, ...attributes }] of this.rows) this.found.push(Decoration.line({ class: [...names].join(" "), attributes }).range(from));
    this.decorations = Decoration.set(this.found, true);
    this.atoms = RangeSet.of(this.hidden.map(([from, to]) => hiding.range(from, to)), true);
  }

  // Whether the caret is in, or at, a stretch: its marks are shown then.
  isAt(from, to) {
    return this.view.hasFocus && this.state.selection.ranges.some((one) => one.from <= to && one.to >= from);
  }

  row(from, ...names) {
    const found = this.rows.get(from) ?? { names: new Set() };
    this.rows.set(from, found);
    for (const name of names) found.names.add(name);
    return found;
  }

  // The lines in sight of a stretch.
  *lines(from, to) {
    for (let at = Math.max(from, this.from); at <= Math.min(to, this.to);) {
      const line = this.doc.lineAt(at);
      yield line;
      at = line.to + 1;
    }
  }

  hide(from, to) {
    if (from >= to) return;
    this.found.push(hiding.range(from, to));
    this.hidden.push([from, to]);
  }

  put(from, to, look) {
    if (from < to) this.found.push(look.range(from, to));
  }

  enter(node) {
    const { name } = node;
    if (node.from < this.front && name !== "Document") return node.to > this.front;
    const heading = /^(ATX|Setext)Heading(\d)$/.exec(name);
    if (heading) this.heading(node, heading[1], Number(heading[2]));
    else if (name in INLINE) this.inline(node, INLINE[name]);
    else if (name === "InlineCode") this.code(node);
    else if (name === "Link") this.link(node);
    else if (name === "URL" && node.node.parent.name !== "Link") this.put(node.from, node.to, mark("md-link"));
    else if (name === "ListItem") this.item(node);
    else if (name === "Blockquote") for (const line of this.lines(node.from, node.to)) this.row(line.from, "md-quote");
    else if (name === "QuoteMark") this.hideAway(node.from, this.spaceAfter(node.to));
    else if (name === "FencedCode" || name === "CodeBlock") return this.block(node, "md-pre");
    else if (RAW.includes(name)) return this.block(node, "md-raw");
    else if (name === "HorizontalRule") this.rule(node);
    else if (name === "Paragraph") this.dialogue(node);
    else if (["TableHeader", "TableRow", "TableDelimiter"].includes(name)) this.tableRow(node);
    return true;
  }

  spaceAfter(at) {
    return this.doc.sliceString(at, at + 1) === " " ? at + 1 : at;
  }

  // What stands at the begin of a line; shown where the caret stands before it.
  hideAway(from, to) {
    const { head } = this.state.selection.main;
    if (!(this.view.hasFocus && head >= from && head < to)) this.hide(from, to);
    else this.put(from, to, mark("md-mark"));
  }

  heading(node, kind, level) {
    this.level = Math.min(level + 2, this.level + 1);
    for (const line of this.lines(node.from, node.to)) {
      Object.assign(this.row(line.from, "md-h", `md-h${level}`), node.from >= this.from && line.from <= node.from ? { role: "heading", "aria-level": String(this.level) } : {});
    }
    const marks = node.node.getChildren("HeaderMark");
    if (kind === "ATX") this.hideAway(node.from, this.spaceAfter(marks[0].to));
    for (const one of kind === "ATX" ? marks.slice(1) : marks) this.put(one.from, one.to, mark("md-mark"));
  }

  inline(node, names) {
    const marks = node.node.getChildren(node.name === "Strikethrough" ? "StrikethroughMark" : "EmphasisMark");
    const isOpen = this.isAt(node.from, node.to);
    this.put(node.from, node.to, mark(names));
    for (const one of marks) {
      if (isOpen) this.put(one.from, one.to, mark("md-mark"));
      else this.hide(one.from, one.to);
    }
  }

  code(node) {
    const [open, close] = [node.node.firstChild, node.node.lastChild];
    const words = this.doc.sliceString(open.to, close.from);
    const called = calledIn(words);
    const found = called ? described(this.facts, called) : null;
    const kind = found ? ` md-code--${found.kind}` : "";
    this.put(node.from, node.to, mark(`md-code${kind}`));
    const said = found?.words.join(", ");
    if (found) {
      this.put(node.from, open.to + called.length, mark("md-chip", { "data-name": called, title: `${said}: ${found.about}`.slice(0, 200) }));
    }
    if (this.isAt(node.from, node.to)) {
      for (const one of [open, close]) this.put(one.from, one.to, mark("md-mark"));
      return;
    }
    if (found) {
      this.found.push(Decoration.replace({ widget: new Drawn(`${found.kind} ${said}`, () => h("span", { class: "md-icon", role: "img", "aria-label": said }, icon(ICONS[found.kind]))) }).range(open.from, open.to));
      this.hidden.push([open.from, open.to]);
    } else this.hide(open.from, open.to);
    this.hide(close.from, close.to);
  }

  link(node) {
    const marks = node.node.getChildren("LinkMark");
    const address = node.node.getChild("URL");
    if (!address || marks.length < 2) return;
    const look = mark("md-link", { title: this.doc.sliceString(address.from, address.to) });
    if (this.isAt(node.from, node.to)) {
      this.put(marks[0].to, marks[1].from, look);
      this.put(marks[1].from, node.to, mark("md-mark"));
      return;
    }
    this.hide(node.from, marks[0].to);
    this.put(marks[0].to, marks[1].from, look);
    this.hide(marks[1].from, node.to);
  }

  item(node) {
    let depth = 1;
    for (let up = node.node.parent; up; up = up.parent) depth += Number(up.name === "ListItem");
    const sign = node.node.getChild("ListMark");
    for (const line of this.lines(node.from, node.to)) {
      if (this.rows.get(line.from)?.names.has("md-pre")) continue;
      const row = this.row(line.from, "md-li", `md-li-${Math.min(depth, 5)}`);
      if (line.from > node.from) row.names.add("md-li-more");
      else row.names.delete("md-li-more");
      for (let outer = 1; outer < depth; outer += 1) row.names.delete(`md-li-${outer}`);
    }
    if (!sign || sign.from < this.from || sign.to > this.to) return;
    const { from } = this.doc.lineAt(sign.from);
    if (!this.doc.sliceString(from, sign.from).trim()) this.hide(from, sign.from);
    const end = this.spaceAfter(sign.to);
    if (/^[-*+]$/.test(this.doc.sliceString(sign.from, sign.to))) {
      this.found.push(bullet.range(sign.from, end));
      this.hidden.push([sign.from, end]);
    } else this.put(sign.from, end, mark("md-number"));
  }

  block(node, name) {
    const last = this.doc.lineAt(node.to).from;
    for (const line of this.lines(node.from, node.to)) {
      const row = this.row(line.from, name);
      if (line.from <= node.from) row.names.add(`${name}-first`);
      if (line.from === last) row.names.add(`${name}-last`);
    }
    for (const fence of name === "md-pre" && node.name === "FencedCode" ? [...node.node.getChildren("CodeMark"), ...node.node.getChildren("CodeInfo")] : []) this.put(fence.from, fence.to, mark("md-mark"));
    return false;
  }

  rule(node) {
    this.row(this.doc.lineAt(node.from).from, "md-rule");
    if (!this.isAt(node.from, node.to)) this.hide(node.from, node.to);
  }

  // What somebody says goes on to the end of the paragraph, or to who speaks next.
  dialogue(node) {
    let who = null;
    for (let at = node.from; at <= Math.min(node.to, this.to);) {
      const line = this.doc.lineAt(at);
      const start = Math.max(at, line.from);
      const said = speakerOf(this.doc.sliceString(start, line.to));
      if (said) who = said;
      if (who && line.to >= this.from) {
        const next = line.to < node.to && this.doc.line(line.number + 1);
        const row = this.row(line.from, "md-say", `md-say--${who.role}`);
        if (said) {
          row.names.add("md-say-first");
          row["data-who"] = said.name;
          this.hideAway(start, start + said.length);
        }
        if (!next || speakerOf(next.text)) row.names.add("md-say-last");
      }
      at = line.to + 1;
    }
  }

  tableRow(node) {
    const isRule = node.name === "TableDelimiter";
    if (isRule && node.node.parent.name !== "Table") return;
    const line = this.doc.lineAt(node.from);
    if (isRule) {
      this.row(line.from, "md-tr", "md-tr-rule");
      return;
    }
    this.row(line.from, "md-tr", node.name === "TableHeader" ? "md-tr-head" : "md-tr-body");
    const bars = node.node.getChildren("TableDelimiter");
    const starts = bars.map((one) => one.from);
    if (starts[0] !== node.from) starts.unshift(node.from);
    if (starts.at(-1) + 1 >= node.to && starts.length > 1) starts.pop();
    for (const [at, from] of starts.entries()) this.put(from, starts[at + 1] ?? line.to, mark("md-cell"));
    for (const one of bars) this.put(one.from, this.spaceAfter(one.to), mark("md-bar"));
  }

  // Lines of no construct: what has to be replaced, and the gap between two paragraphs.
  plain() {
    const { samples } = this.facts;
    for (const line of this.lines(this.from, this.to)) {
      const isFront = line.from < this.front;
      if (isFront) this.row(line.from, "md-front");
      else if (!line.text.trim() && !this.rows.get(line.from)?.names.size) this.row(line.from, "md-gap");
      else if (samples.has(line.text.trim())) this.row(line.from, "md-sample");
    }
    for (const [at, words] of hintsOf(this.state, this.facts)) {
      if (at >= this.from && at <= this.to) this.found.push(hint(words).range(at));
    }
  }
}

// Where a section has no words yet, what belongs there.
const known = new WeakMap();
function hintsOf(state, facts) {
  if (known.has(state.doc)) return known.get(state.doc);
  const found = [];
  const wanted = facts.sections();
  for (const section of outline(state.doc.toString()).sections) {
    const rule = section.body.from === section.body.to && wanted.find((one) => isNamed(section.title, one));
    if (rule) found.push([bodyPlace(state.doc, section), rule.hint]);
  }
  known.set(state.doc, found);
  return found;
}

// Where to write the first words of an empty section.
export function bodyPlace(doc, section) {
  const line = doc.lineAt(section.start);
  const blank = (number) => number <= doc.lines && !doc.line(number).text.trim() && doc.line(number).from <= section.end;
  if (blank(line.number + 2) && blank(line.number + 1)) return doc.line(line.number + 2).from;
  return blank(line.number + 1) ? doc.line(line.number + 1).from : line.to;
}

// What the first letter takes the place of: {from, to, before, after}. The words of a line that are there to be replaced,
// without the mark of a list and who speaks, or the gap of a section that is empty.
function sampleAt(state, facts, at) {
  const line = state.doc.lineAt(at);
  if (line.from === line.to && hintsOf(state, facts).some(([place]) => place === at)) {
    const [before, after] = apart(state, line);
    return { from: at, to: at, before, after };
  }
  if (!facts.samples.has(line.text.trim())) return null;
  const from = line.from + leadOf(line.text);
  return at >= from || at === line.from ? { from, to: line.to } : null;
}

// What is there to be replaced is selected where the caret comes to it.
export function selectSample(view, facts) {
  const { main } = view.state.selection;
  const sample = main.empty && sampleAt(view.state, facts, main.head);
  if (sample && sample.from < sample.to) view.dispatch({ selection: EditorSelection.range(sample.from, sample.to) });
}

function card(facts, name, at, go) {
  const found = described(facts, name);
  if (!found) return null;
  return {
    pos: at, above: true, arrow: false,
    create(view) {
      const schema = found.tool?.args_schema;
      const args = Object.entries(schema?.properties ?? {}).map(([key, one]) => h("li", {}, h("code", {}, key), (schema.required ?? []).includes(key) ? "" : h("span", { class: "muted" }, ` ${gettext("optional")}`), one?.description ? ` ${one.description}` : ""));
      const open = h("button", { type: "button", class: "btn btn--sm", onclick: () => go(found) }, found.tool ? gettext("Open tool") : gettext("Open form"));
      const dom = h("section", { class: "md-card", "aria-label": name },
        h("p", { class: "md-card__head" }, h("strong", {}, name), found.words.map((word, index) => h("span", { class: `badge ${index ? "badge--success" : found.kind === "write" ? "badge--warning" : ""}` }, index ? null : icon(ICONS[found.kind]), word))),
        found.about ? h("p", {}, found.about) : null, args.length ? h("ul", {}, args.slice(0, 8)) : null, open);
      dom.addEventListener("keydown", (event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        view.dispatch({ effects: setCard.of(null) });
        view.focus();
      });
      return { dom, focus: () => open.focus() };
    },
  };
}

const cardField = StateField.define({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setCard)) return effect.value;
    return transaction.docChanged || transaction.selection ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

// The chip at the caret, as [name, offset].
function chipAt(state, at) {
  for (const side of [-1, 1]) {
    const node = syntaxTree(state).resolveInner(at, side);
    const code = node.name === "InlineCode" ? node : node.parent;
    if (code?.name !== "InlineCode") continue;
    const from = code.firstChild.to;
    const name = calledIn(state.sliceDoc(from, code.lastChild.from));
    if (name) return [name, from];
  }
  return null;
}

function openCard(view, facts, go, chip) {
  const shown = chip && card(facts(), chip[0], chip[1], go);
  if (!shown) return false;
  view.dispatch({ effects: setCard.of(shown) });
  return true;
}

// `facts` as for completion; `go({file, name})` opens a tool or a form.
export function prose(facts, go) {
  const look = ViewPlugin.define((view) => {
    const plugin = { picture: new Picture(view, facts) };
    plugin.update = (update) => {
      const isOther = update.transactions.some((one) => one.effects.some((effect) => effect.is(namesChanged)));
      if (update.docChanged || update.viewportChanged || update.selectionSet || update.focusChanged || isOther || syntaxTree(update.startState) !== syntaxTree(update.state)) {
        if (isOther) known.delete(update.state.doc);
        plugin.picture = new Picture(update.view, facts);
      }
    };
    return plugin;
  }, {
    decorations: (plugin) => plugin.picture.decorations,
    provide: (plugin) => EditorView.atomicRanges.of((view) => view.plugin(plugin)?.picture.atoms ?? Decoration.none),
  });
  const keyOn = (format) => (view) => toggle(view, format);
  return [
    Prec.high(look), cardField, theme, placeholder(gettext("Write here. Type / for headings, lists and examples, @ for tools and forms.")),
    EditorView.lineWrapping,
    Prec.high(keymap.of([
      { key: "Enter", run: enter }, { key: "Backspace", run: erase },
      { key: "Home", run: home(false), shift: home(true) }, { mac: "Cmd-ArrowLeft", run: home(false), shift: home(true) },
      { key: "Tab", run: (view) => toCell(view, 1), shift: (view) => toCell(view, -1) },
      { key: "Mod-b", run: keyOn("**") }, { key: "Mod-i", run: keyOn("*") }, { key: "Mod-e", run: keyOn("`") },
      {
        key: "Mod-Enter",
        run: (view) => openCard(view, facts, go, chipAt(view.state, view.state.selection.main.head)) && Boolean(setTimeout(() => view.dom.querySelector(".md-card .btn")?.focus(), 60)),
      },
      { key: "Escape", run: (view) => Boolean(view.state.field(cardField)) && (view.dispatch({ effects: setCard.of(null) }), true) },
    ])),
    // What is there to be replaced goes with the first letter.
    EditorView.inputHandler.of((view, from, to, text) => {
      const sample = from === to && text && sampleAt(view.state, facts(), from);
      if (!sample) return false;
      const { before = "", after = "" } = sample;
      view.dispatch({ changes: { ...sample, insert: before + text + after }, selection: { anchor: sample.from + before.length + text.length } }, { userEvent: "input.type" });
      return true;
    }),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        const chip = event.button ? null : event.target.closest?.(".md-chip");
        if (!chip) return false;
        view.focus();
        return openCard(view, facts, go, [chip.dataset.name, view.posAtDOM(chip)]);
      },
      click(event, view) {
        if (!event.target.closest?.(".md-chip")) selectSample(view, facts());
        return false;
      },
    }),
  ];
}

// From the buttons above the document: the menus that typing opens.
export function type(view, letter) {
  const { head } = view.state.selection.main;
  const line = view.state.doc.lineAt(head);
  const before = view.state.sliceDoc(line.from, head);
  const lead = letter === "/" && before.trim() ? "\n\n" : letter === "@" && /\S$/.test(before) ? " " : "";
  view.focus();
  const at = lead.includes("\n") ? line.to : head;
  view.dispatch({ changes: { from: at, insert: lead + letter }, selection: { anchor: at + lead.length + 1 } }, { userEvent: "input.type", scrollIntoView: true });
  startCompletion(view);
}

const levels = Object.fromEntries([1, 2, 3, 4, 5].map((depth) => [`.md-li-${depth}`, { paddingInlineStart: `${1.5 * depth}em !important` }]));
const bubble = { borderBlock: "3px solid transparent", backgroundClip: "padding-box", padding: "0 var(--s-3) !important" };
const theme = EditorView.theme({
  "&": { height: "auto", background: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-sans)", fontSize: "0.9375rem", lineHeight: "1.6", overflow: "visible" },
  ".cm-content": { maxWidth: "34rem", minHeight: "50vh", padding: "var(--s-3) 0 40vh" },
  // Comments stand below it where there is no margin.
  "@media (max-width: 75.99rem)": { ".cm-content": { minHeight: "12rem", paddingBottom: "var(--s-8)" } },
  ".cm-line": { padding: "0 2px" },
  ".cm-lintPoint::after": { content: "none" },
  ".cm-placeholder, .md-hint": { color: "var(--text-3)" },
  ".md-h": { fontWeight: "var(--weight-semibold)", lineHeight: "1.3", letterSpacing: "-0.01em" },
  ".md-h1": { fontSize: "1.75rem" },
  ".md-h2": { fontSize: "1.25rem", paddingTop: "1.1em !important" },
  ".md-h3": { fontSize: "1rem", paddingTop: "0.7em !important" },
  ".md-gap": { lineHeight: "0.85" },
  ".md-mark": { color: "var(--text-3)", fontWeight: "var(--weight-regular)" },
  ".md-strong": { fontWeight: "var(--weight-semibold)" },
  ".md-em": { fontStyle: "italic" },
  ".md-strike": { textDecoration: "line-through" },
  ".md-link": { color: "var(--link)", textDecoration: "underline", textUnderlineOffset: "2px" },
  ".md-code, .md-pre, .md-raw, .md-front": { fontFamily: "var(--font-mono)", fontSize: "0.8125rem" },
  ".md-code": { padding: "0.1em 0.3em", background: "var(--bg-inset)", borderRadius: "var(--r-4)" },
  ".md-raw, .md-front": { color: "var(--text-3)" },
  ".md-pre": { background: "var(--bg-code)", borderInline: "1px solid var(--border)", padding: "0 var(--s-3) !important" },
  ".md-pre-first": { borderTop: "1px solid var(--border)", borderStartStartRadius: "var(--r-8)", borderStartEndRadius: "var(--r-8)", paddingTop: "var(--s-1) !important" },
  ".md-pre-last": { borderBottom: "1px solid var(--border)", borderEndStartRadius: "var(--r-8)", borderEndEndRadius: "var(--r-8)", paddingBottom: "var(--s-1) !important" },
  ".md-quote": { borderInlineStart: "3px solid var(--border-strong)", color: "var(--text-2)", paddingInlineStart: "var(--s-3) !important" },
  ".md-rule": { background: "linear-gradient(var(--border-strong), var(--border-strong)) center / 100% 1px no-repeat" },
  ".md-li": { textIndent: "-1.5em" },
  ".md-li-more": { textIndent: "0" },
  ...levels,
  ".md-bullet, .md-number": { display: "inline-block", minWidth: "1.5em", textIndent: "0", color: "var(--text-2)" },
  ".md-bullet": { textAlign: "center" },
  ".md-chip": { color: "var(--text)", fontWeight: "var(--weight-medium)", cursor: "pointer" },
  ".md-icon": { display: "inline-flex", paddingInlineEnd: "0.3em", verticalAlign: "-0.1em", color: "var(--text-2)" },
  ".md-icon .icon, .md-card .icon": { width: "0.875em", height: "0.875em" },
  ".md-code--write": { background: "var(--warning-bg)", color: "var(--warning-text)" },
  ".md-code--form": { background: "var(--accent-bg)" },
  ".md-tr": { display: "grid", gridAutoFlow: "column", gridAutoColumns: "minmax(0, 1fr)", borderInline: "1px solid var(--border)", borderBottom: "1px solid var(--border)" },
  ".md-tr-head": { fontWeight: "var(--weight-semibold)", background: "var(--bg-subtle)", borderTop: "1px solid var(--border)" },
  ".md-tr-rule": { height: "0.3rem", overflow: "hidden", color: "transparent", fontSize: "1px", lineHeight: "1", background: "var(--bg-subtle)" },
  ".md-cell": { minWidth: "0", padding: "0.2em 0.4em", overflowWrap: "anywhere" },
  ".md-cell + .md-cell": { borderInlineStart: "1px solid var(--border)" },
  // Out of the flow: a long word would begin on the next line behind it.
  ".md-bar": { position: "absolute", fontSize: "1px", color: "transparent" },
  ".md-say": { ...bubble, borderRadius: "0" },
  ".md-say--user": { marginInlineStart: "14%", backgroundColor: "var(--accent-bg)" },
  ".md-say--agent": { marginInlineEnd: "14%", backgroundColor: "var(--bg-inset)" },
  ".md-say--call": { marginInlineEnd: "14%", backgroundColor: "var(--warning-bg)", fontFamily: "var(--font-mono)", fontSize: "0.8125rem" },
  ".md-say:not(.md-say-first)": { borderTopWidth: "0" },
  ".md-say:not(.md-say-last)": { borderBottomWidth: "0" },
  ".md-say-first": { borderStartStartRadius: "var(--r-12)", borderStartEndRadius: "var(--r-12)", paddingTop: "var(--s-1) !important" },
  ".md-say-last": { borderEndStartRadius: "var(--r-12)", borderEndEndRadius: "var(--r-12)", paddingBottom: "var(--s-2) !important" },
  ".md-say[data-who]::before": { content: "attr(data-who)", display: "block", color: "var(--text-2)", fontFamily: "var(--font-sans)", fontSize: "var(--text-12)" },
  ".md-sample": { color: "var(--text-3)", fontStyle: "italic" },
  ".md-card": { maxWidth: "22rem", padding: "var(--s-3)", fontFamily: "var(--font-sans)", fontSize: "var(--text-13)", lineHeight: "var(--lh-13)" },
  ".md-card :is(p, ul)": { margin: "0 0 var(--s-2)" },
  ".md-card ul": { paddingInlineStart: "var(--s-4)" },
  ".md-card__head": { display: "flex", flexWrap: "wrap", alignItems: "center", gap: "var(--s-1) var(--s-2)" },
});
