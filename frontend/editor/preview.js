// What readers would get of the texts as they stand: the skill as a page, its forms, the prompt, the load answer.
import { tick } from "./controls.js";
import { h } from "./dom.js";
import { gettext, interpolate } from "./gettext.js";

const QUIET_MS = 700;

export class Preview {
  constructor(editor) {
    this.editor = editor;
    this.root = document.getElementById("preview");
    this.tabs = [...document.querySelectorAll(".beside-tabs [role=tab]")];
    this.shown = "findings";
    this.seen = "";
    this.timer = 0;
    this.request = null;
    this.answer = null;
    this.form = "";
    this.theme = "";
    this.hasSamples = false;
    this.frame = null;
    document.querySelector(".beside-tabs").hidden = false;
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.show(tab.dataset.view));
      tab.addEventListener("keydown", (event) => this.step(event));
    }
    window.addEventListener("message", (event) => this.heard(event));
    new MutationObserver(() => this.draw()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.show("findings");
  }

  step(event) {
    const at = this.tabs.indexOf(event.currentTarget);
    const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
    if (!(event.key in moves)) return;
    const tab = this.tabs.at(moves[event.key] % this.tabs.length);
    this.show(tab.dataset.view);
    tab.focus();
    event.preventDefault();
  }

  show(view) {
    this.shown = view;
    for (const tab of this.tabs) {
      const isShown = tab.dataset.view === view;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown) this.root.setAttribute("aria-labelledby", tab.id);
    }
    document.getElementById("findings").hidden = view !== "findings";
    this.root.hidden = view === "findings";
    if (view !== "findings") this.later(0);
    this.draw();
  }

  // What readers get of the part that is edited: tools in the prompt, a form drawn. Instructions are drawn as one writes.
  follow(file, part) {
    const view = { "tools.json": "agent", "ui_schemas.json": "forms" }[file];
    if (!view) return;
    const form = file === "ui_schemas.json" && this.editor.documentOf(file).form.idOf(part);
    if (form) this.form = form;
    this.show(view);
  }

  later(ms = QUIET_MS) {
    clearTimeout(this.timer);
    if (this.shown !== "findings") this.timer = setTimeout(() => this.fetch(), ms);
  }

  stamp() {
    return this.editor.documents.map((one) => one.revision).join("/");
  }

  async ask(path, more = {}) {
    const body = new FormData();
    for (const document of this.editor.documents) body.set(document.field, document.text);
    for (const [name, value] of Object.entries(more)) body.set(name, value);
    const headers = JSON.parse(document.body.getAttribute("hx-headers"));
    this.request?.abort();
    this.request = new AbortController();
    const response = await fetch(path, { method: "POST", body, headers: { ...headers, "HX-Request": "true" }, signal: this.request.signal });
    if (!response.ok) throw new Error(response.status === 401 || response.status === 403 ? gettext("You may be signed out. Save or sign in again.") : gettext("Couldn't load the preview."));
    return response.json();
  }

  async fetch() {
    const stamp = this.stamp();
    if (stamp === this.seen) return;
    this.root.setAttribute("aria-busy", "true");
    try {
      this.answer = await this.ask(this.root.dataset.address);
      this.seen = stamp;
      this.failure = "";
    } catch (error) {
      if (error.name === "AbortError") return;
      this.failure = error instanceof TypeError ? gettext("Can't reach the server.") : error.message;
    }
    this.root.removeAttribute("aria-busy");
    this.draw();
  }

  draw() {
    if (this.shown === "findings") return;
    if (this.shown === "forms" && this.answer && !this.failure) return this.drawForms();
    this.frame = null;
    if (this.failure) this.root.replaceChildren(h("p", { class: "banner banner--warning", role: "status" }, this.failure));
    else if (!this.answer) this.root.replaceChildren(h("p", { class: "muted preview-wait" }, gettext("Loading preview…")));
    else this.root.replaceChildren(...this[this.shown]());
    return undefined;
  }

  skill() {
    const frame = h("iframe", { class: "preview-frame", title: gettext("Instructions preview"), sandbox: "" });
    frame.srcdoc = page(this.dark(), this.root.dataset.style, "", this.answer.skill_html);
    return [h("p", { class: "field__hint" }, gettext("Rendered instructions. Links and images are disabled.")), frame];
  }

  agent() {
    const { agent } = this.answer;
    if (!agent) return [absent(gettext("Prompt"))];
    const size = { characters: agent.characters.toLocaleString(), tokens: agent.tokens_estimate.toLocaleString() };
    return [h("p", { class: "field__hint" }, interpolate(gettext("Exactly what the model sees: %(characters)s characters, about %(tokens)s tokens."), size, true)),
      h("pre", { class: "prompt", tabindex: "0", "aria-label": gettext("Prompt") }, agent.prompt)];
  }

  load() {
    if (!this.answer.load) return [absent(gettext("API response"))];
    return [h("p", { class: "field__hint" }, interpolate(gettext("capability_skill_load response · %(bytes)s bytes"), { bytes: this.answer.load_bytes.toLocaleString() }, true)),
      h("pre", { class: "prompt", tabindex: "0", "aria-label": gettext("API response") }, this.answer.load)];
  }

  dark() {
    return document.documentElement.dataset.theme === "dark";
  }

  drawForms() {
    const { forms } = this.answer;
    if (!forms.length) {
      this.frame = null;
      return this.root.replaceChildren(h("p", { class: "empty" }, gettext("No forms yet. Generate one from a tool under Tools.")));
    }
    const form = forms.find((one) => one.schema_id === this.form) ?? forms[0];
    this.form = form.schema_id;
    const stamp = JSON.stringify([form, this.hasSamples, forms.map((one) => one.schema_id)]);
    if (this.frame?.isConnected && this.drawn === stamp) return this.paint();
    this.drawn = stamp;
    const pick = h("select", { class: "select", "aria-label": gettext("Form"), onchange: (event) => { this.form = event.target.value; this.drawForms(); } },
      forms.map((one) => h("option", { value: one.schema_id, selected: one === form }, one.title ? `${one.title} (${one.schema_id})` : one.schema_id)));
    this.switch = h("button", { type: "button", class: "btn btn--sm", "data-preview-theme": true, onclick: () => { this.theme = this.isFormDark() ? "light" : "dark"; this.paint(); } });
    const head = h("div", { class: "preview-head" }, pick, this.switch,
      tick(gettext("Sample values"), this.hasSamples, { help: gettext("Only in this preview."), changed: (on) => { this.hasSamples = on; this.drawForms(); this.root.querySelector(".preview-head [type=checkbox]").focus(); } }));
    if (!form.messages) {
      this.frame = null;
      this.root.replaceChildren(head, h("div", { class: "banner banner--warning" }, h("p", { translate: "no" }, form.why)));
      return this.paint();
    }
    this.frame = h("iframe", { class: "preview-frame preview-form", title: interpolate(gettext("Form %(name)s"), { name: form.schema_id }, true), sandbox: "allow-scripts" });
    this.frame.srcdoc = page(this.isFormDark(), this.root.dataset.style, this.root.dataset.surface, "");
    this.messages = (this.hasSamples && form.sample_messages) || form.messages;
    this.log ??= h("ol", { class: "action-log", "aria-live": "polite" });
    this.root.replaceChildren(head, this.frame, h("h3", {}, gettext("Result")),
      h("p", { class: "field__hint" }, gettext("Try the form. Calls are checked but not executed.")), this.log);
    return this.paint();
  }

  isFormDark() {
    return this.theme ? this.theme === "dark" : this.dark();
  }

  // What is typed into the form stays.
  paint() {
    const isDark = this.isFormDark();
    this.switch.textContent = isDark ? gettext("Light preview") : gettext("Dark preview");
    this.frame?.contentWindow?.postMessage({ theme: isDark ? "dark" : "light" }, "*");
  }

  // The frame has an origin of its own: what it says is data, whoever wrote the form.
  heard(event) {
    if (!this.frame || event.source !== this.frame.contentWindow) return;
    const said = event.data ?? {};
    if (said.type === "ready") {
      this.frame.contentWindow.postMessage({ type: "render", messages: this.messages }, "*");
      this.paint();
    }
    if (said.type === "size" && Number.isFinite(said.height)) this.frame.style.height = `${Math.min(1600, Math.max(120, Math.ceil(said.height)))}px`;
    if (said.type === "failed") this.entry(h("p", { class: "banner banner--warning" }, interpolate(gettext("This form can't be displayed: %(why)s"), { why: String(said.message).slice(0, 300) }, true)));
    if (said.type === "action" && typeof said.name === "string") this.acted(said);
  }

  async acted({ name, context }) {
    const sent = JSON.stringify(context ?? {}, null, 2);
    if (sent.length > 100_000) return;
    const verdict = h("p", { class: "muted" }, gettext("Checking…"));
    this.entry(h("p", {}, h("strong", {}, String(name).slice(0, 100))), verdict, h("pre", { class: "mono" }, sent));
    try {
      const told = await this.ask(this.root.dataset.actionAddress, { schema_id: this.form, action: name, context: sent });
      verdict.replaceChildren(h("span", { class: `badge ${told.fits ? "badge--success" : "badge--danger"}` }, told.fits ? gettext("Valid call") : gettext("Blocked")), ` ${told.words}`);
      verdict.className = "";
      if (told.arguments) verdict.parentElement.querySelector("pre").textContent = told.arguments;
    } catch (error) {
      if (error.name !== "AbortError") verdict.textContent = error.message;
    }
  }

  entry(...parts) {
    this.log.prepend(h("li", {}, parts));
    while (this.log.children.length > 20) this.log.lastChild.remove();
  }
}

function absent(what) {
  return h("p", { class: "empty" }, interpolate(gettext("%(what)s: fix the issues to see it."), { what }, true));
}

function page(isDark, style, script, body) {
  const scripts = script ? `<script src="${script}"></script>` : "";
  const theme = isDark ? "dark" : "light";
  return `<!doctype html><html lang="en" data-theme="${theme}" class="a2ui-${theme}"><head><meta charset="utf-8">` +
    `<link rel="stylesheet" href="${style}">${scripts}</head><body>${body}</body></html>`;
}
