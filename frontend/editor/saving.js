// Saving by button, by key and by itself; what happens when a save is refused; and the way back to what was not saved.
import { Copies } from "./copies.js";
import { h } from "./dom.js";
import { gettext, interpolate } from "./gettext.js";
import { Leaving } from "./leaving.js";

const QUIET_MS = 3000;
const RETRY_MS = [5000, 10000, 30000, 60000];
const COPY_MS = 400;

export class Saving {
  constructor(editor) {
    this.editor = editor;
    this.form = editor.form;
    this.saveButton = this.form.querySelector("[data-save]");
    this.reviewButton = this.form.querySelector("[data-save-then]");
    this.testLink = this.form.querySelector("[data-save-opens]");
    this.copies = new Copies(this.form.dataset.user, editor.capabilityId);
    // What the server has. A browser may put back what was typed before a reload, so this is not simply what is shown.
    this.saved = "unsaved" in this.form.dataset ? null : editor.documents.map((one) => one.area.defaultValue);
    this.base = this.saved;
    this.sent = null;
    // The address to go to once everything is saved; empty to stay. With `tab` it is shown there, and this page stays.
    this.goesTo = "";
    this.tab = null;
    this.isByItself = false;
    this.isAutomatic = this.automatic();
    this.isStale = false;
    this.isRefused = false;
    this.failures = 0;
    this.timer = 0;
    this.copyTimer = 0;
    const settled = new URLSearchParams(location.search).get("settled");
    if (settled?.startsWith(this.copies.prefix)) {
      this.copies.drop(settled);
      history.replaceState(null, "", location.pathname);
    }
    this.leaving = new Leaving(this);
    this.listen();
    this.offer();
  }

  texts() {
    return this.editor.documents.map((one) => one.text);
  }

  isDirty() {
    return this.saved === null || this.editor.documents.some((one, index) => one.text !== this.saved[index]);
  }

  basedOn() {
    return this.form.querySelector("[name=based_on]");
  }

  tell(words) {
    const place = this.form.querySelector(".save-words");
    if (place.textContent.trim() !== words) place.textContent = words;
  }

  changed() {
    this.tell(this.isDirty() ? gettext("Unsaved changes") : gettext("Saved"));
    clearTimeout(this.copyTimer);
    this.copyTimer = setTimeout(() => this.copy(), COPY_MS);
    this.failures = 0;
    this.isRefused = false;
    this.later(QUIET_MS);
  }

  // Whether the server would take a save now, as far as is known here, and may have one unasked.
  canSave() {
    return this.isAutomatic && !this.isStale && !this.isRefused && this.failures === 0;
  }

  copy() {
    clearTimeout(this.copyTimer);
    if (!this.isDirty()) return this.copies.drop();
    const texts = {};
    const base = {};
    for (const [index, document] of this.editor.documents.entries()) {
      if (document.text === this.saved?.[index]) continue;
      texts[document.name] = document.text;
      if (this.base) base[document.name] = this.base[index];
    }
    const facts = { basedOn: this.basedOn().value, isSent: this.leaving.isSent() };
    if (!this.copies.keep({ texts, base, ...facts })) this.copies.keep({ texts, base: {}, ...facts });
    return undefined;
  }

  // By itself, when nobody has typed for a while. Storage may say that it shall not.
  automatic() {
    try {
      return localStorage.getItem("autosave") !== "off";
    } catch {
      // Storage is shut off.
      return true;
    }
  }

  later(ms) {
    clearTimeout(this.timer);
    if (!this.isAutomatic || this.isStale) return;
    this.timer = setTimeout(() => this.byItself(), ms);
  }

  byItself() {
    if (!this.isDirty() || this.isStale || !this.isAutomatic) return;
    if (this.sent) return this.later(this.goesTo ? COPY_MS : QUIET_MS);
    this.isByItself = true;
    this.saveButton.click();
    return undefined;
  }

  listen() {
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "s") return;
      event.preventDefault();
      // A field that is written when it is left is written now.
      const active = document.activeElement;
      if (active?.matches("input, textarea") && this.form.contains(active)) active.dispatchEvent(new Event("change", { bubbles: true }));
      this.isByItself = false;
      this.saveButton.click();
    });
    this.saveButton.addEventListener("click", (event) => {
      if (event.isTrusted) this.isByItself = false;
    }, { capture: true });
    this.reviewButton.addEventListener("click", (event) => {
      event.preventDefault();
      this.goesTo = this.reviewButton.dataset.saveThen;
      this.isByItself = false;
      this.saveButton.click();
    });
    // What was typed is tested, not what was saved before it. A browser opens a tab at the click or not at all.
    this.testLink.addEventListener("click", (event) => {
      if (!this.isDirty() || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      this.stay();
      this.tab = window.open("about:blank", "_blank");
      this.goesTo = this.testLink.href;
      this.isByItself = false;
      this.saveButton.click();
    });
    // A save that failed leaves the text where it is: studio.js says why.
    document.body.addEventListener("htmx:beforeRequest", (event) => {
      if (event.detail.elt !== this.saveButton) return;
      this.sent = this.texts();
      this.tell(gettext("Saving…"));
    });
    document.body.addEventListener("htmx:afterRequest", (event) => {
      if (event.detail.elt === this.saveButton) this.answered(event.detail);
    });
    // Told when a request failed for good; one that is tried again is not told.
    document.addEventListener("studio:failed", () => {
      this.stay();
      this.sent = null;
      if (!this.isDirty()) return;
      this.tell(gettext("Couldn't save"));
      this.later(RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)]);
      this.failures += 1;
    });
    window.addEventListener("focus", () => {
      if (this.failures && this.isDirty()) this.later(500);
    });
  }

  answered({ successful, xhr }) {
    if (xhr.status === 409) {
      this.sent = null;
      this.stay();
      if (this.isByItself) this.stale(xhr.responseText);
      else this.compare();
    } else if (xhr.status === 422) {
      // The page shows why, so htmx calls it successful: it was not saved all the same.
      this.sent = null;
      this.stay();
      this.isRefused = true;
      clearTimeout(this.timer);
      this.askAsWhom(xhr.responseText);
    } else if (successful) {
      this.saved = this.sent;
      this.base = this.sent;
      this.sent = null;
      this.failures = 0;
      this.copy();
      if (this.isDirty()) {
        this.tell(gettext("Unsaved changes"));
        this.later(this.goesTo ? 0 : QUIET_MS);
      } else if (this.goesTo) this.go();
    }
  }

  go() {
    const { goesTo, tab } = this;
    Object.assign(this, { goesTo: "", tab: null });
    if (!tab) return location.assign(goesTo);
    tab.opener = null;
    return tab.location.replace(goesTo);
  }

  // Nothing was saved, so there is nothing to go to.
  stay() {
    this.tab?.close();
    Object.assign(this, { goesTo: "", tab: null });
  }

  // In another tab somebody else signed in: what one person typed is saved as another's only where they say so.
  askAsWhom(html) {
    const typedBy = this.form.querySelector("[name=typed_by]");
    const { signedIn, signedInName } = new DOMParser().parseFromString(html, "text/html").querySelector("[data-signed-in]")?.dataset ?? {};
    this.asked?.remove();
    if (!signedIn || signedIn === typedBy.value) return;
    const saveAs = () => {
      typedBy.value = signedIn;
      this.asked.remove();
      this.isByItself = false;
      this.saveButton.click();
    };
    this.asked = this.bar(interpolate(gettext("You're signed in as %(name)s now. Your text was not saved; it is kept in this browser."), { name: signedInName }, true),
      h("button", { type: "button", class: "btn btn--sm", onclick: saveAs }, interpolate(gettext("Save as %(name)s"), { name: signedInName }, true)));
  }

  // Of what was sent when the page seemed to go, by a page that stayed.
  partingAnswered(status, texts, html) {
    if (status === 409) return this.stale(html);
    const version = new DOMParser().parseFromString(html, "text/html").querySelector("[name=based_on]")?.value;
    if (status !== 200 || !version) return undefined;
    this.basedOn().value = version;
    this.saved = texts;
    this.base = texts;
    this.copy();
    this.tell(this.isDirty() ? gettext("Unsaved changes") : gettext("Saved"));
    return undefined;
  }

  // Another tab, or somebody else, saved while this was being written: nobody is taken away from what they are typing. The
  // page with both texts says in its heading who it was.
  stale(html) {
    this.isStale = true;
    const who = new DOMParser().parseFromString(html, "text/html").querySelector("h1")?.textContent.trim() ?? "";
    this.tell(who || gettext("Someone else saved this draft"));
    this.bar(interpolate(gettext("%(who)s after you opened it. Your text is kept in this browser until you choose."), { who: who || gettext("Someone else saved this draft") }, true),
      h("button", { type: "button", class: "btn btn--sm btn--primary", onclick: () => this.compare() }, gettext("Compare and merge")));
  }

  // A page of its own, with both texts; the base of each file that was changed makes a merge possible.
  compare() {
    for (const old of this.form.querySelectorAll("[data-base]")) old.remove();
    for (const [index, document] of this.editor.documents.entries()) {
      if (!this.base || this.base[index] === undefined) continue;
      const area = h("textarea", { name: `base_${document.field}`, hidden: true, "data-base": true });
      area.value = this.base[index];
      this.form.append(area);
    }
    const copy = h("input", { type: "hidden", name: "copy", "data-base": true });
    copy.value = this.copies.key;
    this.form.append(copy);
    this.copy();
    this.saved = this.texts();
    this.form.submit();
  }

  bar(words, ...actions) {
    const bar = h("div", { class: "banner editor-bar", role: "status" }, h("p", {}, words), h("div", { class: "row" }, actions));
    this.form.querySelector(".files").before(bar);
    return bar;
  }

  async offer() {
    const [copy] = await this.copies.leftBehind();
    if (!copy) return;
    const differs = this.editor.documents.some((one) => one.name in copy.texts && one.text !== copy.texts[one.name]);
    if (!differs) return this.copies.drop(copy.key);
    // In the reader's zone with its name, as the pages show every time.
    const parts = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
    const when = new Date(copy.at).toLocaleString(document.documentElement.lang || [], parts);
    const files = Object.keys(copy.texts).join(", ");
    const bar = this.bar(interpolate(gettext("Unsaved changes from %(when)s: %(files)s."), { when, files }, true),
      h("button", { type: "button", class: "btn btn--sm btn--primary", onclick: () => this.bringBack(copy, bar) }, gettext("Restore")),
      h("button", { type: "button", class: "btn btn--sm", onclick: () => { this.copies.drop(copy.key); bar.remove(); } }, gettext("Discard")));
    return undefined;
  }

  bringBack(copy, bar) {
    const isOlder = copy.basedOn !== this.basedOn().value;
    if (isOlder) this.basedOn().value = copy.basedOn;
    if (isOlder) this.base = this.editor.documents.map((one) => copy.base[one.name] ?? (one.name in copy.texts ? undefined : one.text));
    for (const document of this.editor.documents) {
      if (document.name in copy.texts) document.replace(copy.texts[document.name], "other");
    }
    this.copy();
    this.copies.drop(copy.key);
    bar.remove();
  }

  leave() {
    this.saved = this.texts();
    this.copies.drop();
  }
}
