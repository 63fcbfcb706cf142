// Findings beside the fields of a form: below the field that writes what was found, or on top of the row that holds it.
import { h, newId } from "./dom.js";
import { gettext, interpolate } from "./gettext.js";

const CONTROLS = "input, select, textarea";

// What takes the focus for a field or a row.
export const controlOf = (place) => (place.matches(CONTROLS) ? place : place.querySelector(CONTROLS) ?? place.querySelector("button, summary"));

// What a place shows by itself: where it has changed since it was checked, its finding may be of another.
const shownBy = (place) => (place.matches("fieldset") ? "" : controlOf(place)?.value ?? "");

export class FieldFindings {
  // `goTo` leads to a finding's place in the text.
  constructor(goTo) {
    this.goTo = goTo;
    this.known = new WeakMap();
  }

  // Shows them in a form. `isFresh`: they are of the text as it stands; else those whose field has changed are left out.
  draw(form, found, isFresh) {
    const { root } = form;
    const back = this.focused(root);
    this.clear(root);
    const shown = (isFresh ? null : this.known.get(form)) ?? new Map();
    const places = new Map();
    for (const finding of found) {
      const place = form.place(finding);
      if (!place) continue;
      const key = place.dataset.field ?? place.dataset.at;
      if (isFresh) shown.set(key, shownBy(place));
      else if (shown.get(key) !== shownBy(place)) continue;
      places.set(place, [...(places.get(place) ?? []), finding]);
    }
    if (isFresh) this.known.set(form, shown);
    for (const [place, all] of places) this.put(place, all);
    for (const fold of root.querySelectorAll("details")) this.count(fold);
    back?.();
  }

  // The focus returns to the fix of a finding, or to its field where the fix is gone.
  focused(root) {
    const active = document.activeElement;
    const box = root.contains(active) ? active.closest(".field-findings") : null;
    if (!box) return null;
    const at = [...box.querySelectorAll("a, button")].indexOf(active);
    const { control } = box;
    return () => {
      const now = [...root.querySelectorAll(".field-findings")].find((one) => one.control === control);
      (now?.querySelectorAll("a, button")[at] ?? control).focus({ preventScroll: true });
    };
  }

  clear(root) {
    for (const box of root.querySelectorAll(".field-findings, .fold-count")) box.remove();
    for (const control of root.querySelectorAll("[data-told]")) {
      const others = (control.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => !control.dataset.told.split(" ").includes(id));
      if (others.some(Boolean)) control.setAttribute("aria-describedby", others.join(" "));
      else control.removeAttribute("aria-describedby");
      control.removeAttribute("aria-invalid");
      delete control.dataset.told;
    }
  }

  put(place, all) {
    const told = all.map((finding) => this.said(finding));
    const ids = told.map((one) => one.querySelector(".field-finding-words").id).join(" ");
    const isField = place.matches(CONTROLS);
    const control = place.matches("fieldset") ? place : controlOf(place);
    control.setAttribute("aria-describedby", [control.getAttribute("aria-describedby"), ids].filter(Boolean).join(" "));
    control.dataset.told = ids;
    if (isField && all.some((one) => one.severity === "error")) control.setAttribute("aria-invalid", "true");
    const box = h("div", { class: "field-findings" }, told);
    box.control = controlOf(place);
    const row = isField ? place.closest(".property-row, .two-fields, .three-fields") : null;
    // Fields that stand in one row are too narrow for sentences.
    if (row) this.below(row, box);
    else if (isField) place.closest(".field, .tick, .fact-row").append(box);
    else if (place.matches("fieldset")) place.append(box);
    else if (place.matches("li")) place.prepend(box);
    else place.firstElementChild.after(box);
  }

  below(row, box) {
    let last = row;
    while (last.nextElementSibling?.matches(".field-findings")) last = last.nextElementSibling;
    last.after(box);
  }

  // The words, the page and the fix of a finding as the server wrote them.
  said(finding) {
    const copy = (selector) => finding.item.querySelector(selector)?.cloneNode(true);
    const inside = (selector) => [...(copy(selector)?.childNodes ?? [])];
    const hint = inside(".issue__hint");
    const words = h("p", { class: "field-finding-words", id: newId() },
      copy(".visually-hidden"), " ", h("span", { translate: "no" }, inside(".issue__message")),
      hint.length ? h("span", { class: "field-finding-hint", translate: "no" }, " ", hint) : null);
    const toText = finding.isWritten ? null
      : h("button", { type: "button", class: "btn btn--sm", onclick: () => this.goTo(finding) }, gettext("Open code"));
    return h("div", { class: `field-finding field-finding-${finding.severity}` }, words,
      h("div", { class: "row" }, copy(".issue__code"), copy("[data-fix]"), toText));
  }

  // How many errors and warnings a fold holds, for those who see it closed.
  count(fold) {
    const errors = fold.querySelectorAll(".field-finding-error").length;
    const warnings = fold.querySelectorAll(".field-finding-warning").length;
    const tags = [
      [errors, interpolate(gettext("Errors: %(count)s"), { count: errors }, true), "badge--danger"], [warnings, interpolate(gettext("Warnings: %(count)s"), { count: warnings }, true), "badge--warning"],
    ].filter(([count]) => count);
    fold.querySelector("summary").append(...tags.map(([, words, look]) => h("span", { class: `badge ${look} fold-count` }, words)));
  }
}
