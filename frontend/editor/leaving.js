// What happens to unsaved text when the editor is left: a link waits until it is saved, and whatever else takes the page
// away sends it along.

// Of everything that a page sends while it goes, browsers take 64 KiB.
const BYTES_MAX = 60_000;

export class Leaving {
  constructor(saving) {
    this.saving = saving;
    this.sent = null;
    document.addEventListener("click", (event) => this.click(event));
    // Before the next page is asked for, so that it shows what was saved; where a page goes without asking, as on a
    // phone, at its end.
    window.addEventListener("beforeunload", (event) => {
      if (!saving.isDirty()) return;
      const isSent = this.send();
      saving.copy();
      if (!isSent) event.preventDefault();
    });
    window.addEventListener("pagehide", () => {
      this.send();
      saving.copy();
    });
  }

  click(event) {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target.closest?.("a[href]");
    if (!link || link.target || link.hasAttribute("download") || !leadsAway(link.href, location.href)) return;
    if (!this.saving.isDirty() || !this.saving.canSave()) return;
    event.preventDefault();
    this.saving.goesTo = link.href;
    this.saving.byItself();
  }

  isSent(texts = this.saving.texts()) {
    return this.sent !== null && texts.every((text, index) => text === this.sent[index]);
  }

  // Whether all that is unsaved is on its way. A page that stays after all, as at a download, learns of the answer.
  send() {
    const { saving } = this;
    const texts = saving.texts();
    if (!saving.isDirty() || this.isSent(texts)) return true;
    const body = saving.sent ? null : partingForm(saving, texts);
    if (!body || !saving.canSave()) return false;
    this.sent = texts;
    const request = { method: "POST", body, keepalive: true, headers: { "HX-Request": "true" } };
    fetch(saving.saveButton.getAttribute("hx-post"), request)
      .then(async (response) => saving.partingAnswered(response.status, texts, await response.text()))
      .catch(() => {})
      .finally(() => { this.sent = null; });
    return true;
  }
}

export function leadsAway(address, here) {
  const [to, from] = [new URL(address), new URL(here)];
  if (to.origin !== from.origin) return false;
  return to.pathname !== from.pathname || to.search !== from.search || !to.hash;
}

// The changed files alone; null where they are too large to be sent by a page that goes.
export function partingForm(saving, texts) {
  const body = new FormData();
  let bytes = 2000;
  for (const name of ["csrfmiddlewaretoken", "typed_by", "based_on"]) body.append(name, saving.form.querySelector(`[name=${name}]`).value);
  body.append("only_changed", "yes");
  for (const [index, document] of saving.editor.documents.entries()) {
    if (texts[index] === saving.saved?.[index]) continue;
    body.append(document.field, texts[index]);
    bytes += new Blob([texts[index]]).size + 200;
  }
  return bytes > BYTES_MAX ? null : body;
}
