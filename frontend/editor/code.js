// CodeMirror over one file: colours, completion and help from the schemas, and the server's findings at their places.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, isolateHistory } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import {
  bracketMatching, defineLanguageFacet, foldGutter, foldKeymap, indentOnInput, Language, languageDataProp,
  LanguageSupport, syntaxHighlighting, syntaxTree,
} from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorSelection, EditorState } from "@codemirror/state";
import {
  drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars,
  hoverTooltip, keymap, lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { GFM, parser } from "@lezer/markdown";
import { StyleModule } from "style-mod";

import { commentMarks } from "./comment-marks.js";
import { completions, helpAt, jsonPathAt } from "./hints.js";
import { gettext } from "./gettext.js";
import { fitted, markdownOf } from "./paste.js";
import { namesChanged, prose, selectSample } from "./prose.js";

// What CodeMirror says by itself.
const PHRASES = {
  Find: gettext("Find"), Replace: gettext("Replace"), next: gettext("Next"), previous: gettext("Previous"), all: gettext("All"), replace: gettext("Replace"),
  "replace all": gettext("Replace all"), "match case": gettext("Match case"), regexp: gettext("Regular expression"), "by word": gettext("Whole word"), close: gettext("Close"),
  "current match": gettext("current match"), "on line": gettext("on line"), "replaced match on line $": gettext("replaced match on line $"),
  "replaced $ matches": gettext("replaced $ matches"), Completions: gettext("Completions"), Diagnostics: gettext("Issues"),
  "No diagnostics": gettext("No issues"), "Fold line": gettext("Fold line"), "Unfold line": gettext("Unfold line"),
  "Folded lines": gettext("Folded lines"), "Unfolded lines": gettext("Unfolded lines"), to: gettext("to"), "folded code": gettext("folded code"),
  unfold: gettext("unfold"), "Control character": gettext("Control character"), "Selection deleted": gettext("Selection deleted"),
};

// A <style> element would break the content policy; sheets that a script makes do not.
// The later one of a list wins, also where it comes when the others are there.
const mounted = new WeakMap();
const sheetOf = (module) => {
  if (!mounted.has(module)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(module.getRules());
    mounted.set(module, sheet);
  }
  return mounted.get(module);
};
StyleModule.mount = (root, modules) => {
  const sheets = [modules].flat().map(sheetOf);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((one) => !sheets.includes(one)), ...sheets];
};

const origin = Annotation.define();
const data = defineLanguageFacet({ commentTokens: { block: { open: "<!--", close: "-->" } } });
const markdown = () =>
  new LanguageSupport(new Language(data, parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]), [], "markdown"));

// Typed over a selection, Chromium keeps the look of what was there by a style attribute, which the content policy refuses.
// What is typed there is put in by the editor itself.
function overSelection(event, view) {
  if (!["insertText", "insertLineBreak", "insertParagraph"].includes(event.inputType) || view.composing) return false;
  const { state } = view;
  // What the browser has selected; the editor may not have heard of it yet.
  const selection = window.getSelection();
  const range = selection.rangeCount ? selection.getRangeAt(0) : null;
  const isInside = (node) => view.contentDOM.contains(node);
  if (!range || range.collapsed || !isInside(range.startContainer) || !isInside(range.endContainer)) return false;
  const typed = event.inputType === "insertText" ? event.data : "\n";
  if (!typed) return false;
  event.preventDefault();
  let [from, to] = [view.posAtDOM(range.startContainer, range.startOffset), view.posAtDOM(range.endContainer, range.endOffset)];
  // Only what is in sight is in the page: all of that selected means all of the text.
  const shown = view.viewport;
  if (from <= shown.from && to >= shown.to) [from, to] = [0, state.doc.length];
  if (!state.selection.main.empty) ({ from, to } = state.selection.main);
  const insert = () => view.state.update(
    { changes: { from, to, insert: typed }, selection: { anchor: from + typed.length } }, { userEvent: "input.type", scrollIntoView: true });
  if (!state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, typed, insert))) view.dispatch(insert());
  return true;
}

// Formatted text is put in as Markdown, but not into a block of code.
function pasteMarkdown(event, view) {
  const { state } = view;
  const { from, to } = state.selection.main;
  for (let node = syntaxTree(state).resolveInner(from, -1); node; node = node.parent) {
    if (["FencedCode", "CodeBlock", "InlineCode"].includes(node.name)) return false;
  }
  const html = event.clipboardData?.getData("text/html") ?? "";
  // Below the title, headings are those of sections.
  const markdown = html && markdownOf(html, { top: /^# /m.test(state.sliceDoc(0, from)) ? 2 : 1 });
  if (!markdown) return false;
  event.preventDefault();
  const insert = fitted(state.sliceDoc(0, from), markdown, state.sliceDoc(to));
  view.dispatch(state.replaceSelection(insert), { userEvent: "input.paste", scrollIntoView: true });
  return true;
}

const SURFACE = { color: "var(--text)", background: "var(--bg-surface)" };
const wavy = (color, style = "wavy") => ({ background: "none", textDecoration: `underline ${style} ${color} 1px`, textUnderlineOffset: "3px" });
// In the colors of the page, by its tokens: one theme for light and dark.
const theme = EditorView.theme({
  "&": SURFACE,
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-content:focus-visible": { outline: "none" },
  ".cm-gutters": { color: "var(--text-2)", background: "var(--bg-app)", borderInlineEnd: "1px solid var(--border)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--accent-bg) 35%, transparent)" },
  ".cm-cursor": { borderInlineStartColor: "var(--text)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 25%, transparent)" },
  ".cm-selectionMatch, .cm-searchMatch": { background: "var(--warning-bg)" },
  ".cm-matchingBracket": { background: "var(--accent-bg)", outline: "1px solid var(--accent)" },
  ".cm-panels, .cm-tooltip": { ...SURFACE, border: "1px solid var(--border)" },
  ".cm-tooltip": { maxWidth: "30rem", borderRadius: "var(--r-8)", boxShadow: "var(--shadow-3)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--text-on-solid)", background: "var(--accent)" },
  ".cm-completionDetail": { marginInlineStart: "auto", paddingInlineStart: "var(--s-4)", fontStyle: "normal", color: "inherit" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { display: "flex", padding: "0.25rem 0.625rem", lineHeight: "1.4" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-sans)", fontSize: "var(--text-13)", maxHeight: "25rem" },
  ".cm-completionInfo": { maxWidth: "22rem", padding: "var(--s-2) var(--s-3)", fontSize: "var(--text-13)" },
  ".cm-textfield, .cm-button": { ...SURFACE, border: "1px solid var(--text-2)", borderRadius: "var(--r-4)" },
  ".cm-diagnostic": { padding: "var(--s-2) var(--s-3)", borderInlineStartWidth: "3px" },
  ".cm-diagnostic-error": { borderInlineStartColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderInlineStartColor: "var(--warning)" },
  ".cm-diagnosticAction": { color: "var(--text-on-solid)", background: "var(--accent)" },
  ".cm-lintRange-error": wavy("var(--danger)"),
  ".cm-lintRange-warning": wavy("var(--warning)"),
  ".cm-lintRange-info": wavy("var(--text-3)", "dotted"),
  ".cm-lint-marker": { width: "0.75em", height: "0.75em" },
  ".md-commented": { background: "var(--warning-bg)", boxShadow: "0 2px var(--warning)" },
  ".cm-foldPlaceholder": { color: "var(--text-2)", background: "var(--bg-app)", borderColor: "var(--border)" },
  ".code-help": { maxWidth: "26rem", padding: "var(--s-2) var(--s-3)", fontFamily: "var(--font-sans)", fontSize: "var(--text-13)" },
  ".tok-propertyName, .tok-heading": { color: "var(--accent-text)" },
  ".tok-heading, .tok-strong": { fontWeight: "var(--weight-semibold)" },
  ".tok-emphasis": { fontStyle: "italic" },
  ".tok-string, .tok-link, .tok-url": { color: "var(--success-text)" },
  ".tok-number, .tok-bool, .tok-keyword, .tok-atom": { color: "var(--warning-text)" },
  ".tok-meta, .tok-comment, .tok-punctuation": { color: "var(--text-2)" },
});

// A file as code; `drawn` are the extensions that draw the instructions as a document instead.
const asCode = (isJson) => [
  lineNumbers(), highlightActiveLineGutter(), foldGutter(), highlightActiveLine(), highlightSelectionMatches(), indentOnInput(), bracketMatching(), closeBrackets(),
  syntaxHighlighting(classHighlighter), lintGutter(), EditorView.theme({ "&": { height: "100%" }, ".cm-scroller": { fontFamily: "var(--font-mono)", fontSize: "var(--text-13)", lineHeight: "1.5" } }),
  isJson ? [] : EditorView.lineWrapping,
];

export class Code {
  constructor(document, facts, { pasted = () => {}, go = () => {}, ...comments } = {}) {
    Object.assign(this, { document, facts, go, isDrawn: false, look: new Compartment() });
    const isJson = document.name.endsWith(".json");
    const state = EditorState.create({
      doc: document.text,
      extensions: [
        EditorState.phrases.of(PHRASES), this.look.of(this.named(document.name, asCode(isJson))), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
        theme, isJson ? json() : [markdown(), commentMarks(comments)],
        autocompletion({ override: [(context) => completions(context, document.name, facts())], icons: false, maxRenderedOptions: 14 }),
        hoverTooltip((view, at) => this.help(view, at, facts())),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.domEventHandlers({ beforeinput: overSelection }),
        isJson ? [] : EditorView.domEventHandlers({ paste: (event, view) => pasteMarkdown(event, view) && (pasted(), true) }),
        EditorView.contentAttributes.of({ tabindex: "0", spellcheck: isJson ? "false" : "true" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          const from = update.transactions.map((one) => one.annotation(origin)).find(Boolean) ?? "code";
          document.taken(update.state.doc.toString(), from);
        }),
      ],
    });
    this.view = new EditorView({ state });
  }

  named(label, look) {
    return [look, EditorView.contentAttributes.of({ "aria-label": label })];
  }

  // As a document or as code; a document is drawn again, with the tools and forms as they are now.
  draw(isDrawn, label) {
    if (isDrawn === this.isDrawn) {
      if (isDrawn) this.view.dispatch({ effects: namesChanged.of(null) });
      return;
    }
    this.isDrawn = isDrawn;
    const look = isDrawn ? this.named(label, prose(this.facts, this.go)) : this.named(this.document.name, asCode(false));
    this.view.dispatch({ effects: this.look.reconfigure(look) });
  }

  get length() {
    return this.view.state.doc.length;
  }

  replace(edits, from, effects = []) {
    this.view.dispatch({
      effects,
      changes: [...edits].sort((a, b) => a.from - b.from), userEvent: "input",
      // Typing in a form is one step, as typing in the text is; a fix or a whole new text is a step of its own.
      annotations: from === "form" ? origin.of(from) : [origin.of(from), isolateHistory.of("full")],
    });
  }

  help(view, at, facts) {
    const found = helpAt(view.state, at, this.document.name, facts);
    if (!found) return null;
    return {
      pos: found.from, end: found.to, above: true,
      create() {
        const dom = window.document.createElement("div");
        dom.className = "code-help";
        dom.textContent = found.words;
        return { dom };
      },
    };
  }

  // Columns count code points, the editor counts UTF-16 units.
  offset(line, column) {
    const { doc } = this.view.state;
    if (line > doc.lines) return doc.length;
    const row = doc.line(Math.max(1, line));
    return row.from + [...row.text.slice(0, 2 * column)].slice(0, column - 1).join("").length;
  }

  place() {
    const at = this.view.state.selection.main.head;
    const row = this.view.state.doc.lineAt(at);
    return { line: row.number, column: [...row.text.slice(0, at - row.from)].length + 1 };
  }

  goTo(line, column) {
    const at = this.offset(line, column);
    this.view.dispatch({ selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(at, { y: "center", x: "center" }) });
    this.view.focus();
    if (this.isDrawn) selectSample(this.view, this.facts());
  }

  // The caret at one place, and another in sight at the top.
  show(at, top) {
    this.view.dispatch({ selection: EditorSelection.cursor(at), effects: EditorView.scrollIntoView(top, { y: "start", yMargin: 72 }) });
    this.view.focus();
    selectSample(this.view, this.facts());
  }

  // [{line, column, severity, message, fixes: [{label, apply}]}]
  setFindings(findings) {
    const { state } = this.view;
    const marks = findings.map((one) => {
      const from = this.offset(one.line ?? 1, one.column ?? 1);
      return { from, to: endOf(state, from), severity: one.severity === "waived" ? "info" : one.severity, message: one.message, actions: one.fixes.map(({ label, apply }) => ({ name: label, apply })) };
    });
    this.view.dispatch(setDiagnostics(state, marks));
  }
}

// A finding names a place; its mark covers the value or the rest of the line there.
function endOf(state, from) {
  const row = state.doc.lineAt(from);
  const node = syntaxTree(state).resolveInner(from, 1);
  const isSmall = node.from === from && ["PropertyName", "String", "Number", "True", "False", "Null"].includes(node.name);
  if (isSmall) return Math.min(node.to, row.to);
  if (["{", "["].includes(state.doc.sliceString(from, from + 1))) return from + 1;
  return Math.max(from, Math.min(row.to, from + 200));
}

export { jsonPathAt };
