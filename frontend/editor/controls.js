// Controls that the forms share.
import { field, h, newId } from "./dom.js";
import { pointerOf } from "./json-text.js";
import { gettext, interpolate } from "./gettext.js";

// `writes` is the path of the value that a control writes: findings about it are shown there.
const marked = (writes) => (writes ? { "data-field": pointerOf(writes) } : {});

// The phrases of a column or a row that was copied, without the marks of a list and what shows nothing at their ends.
export const phrasesOf = (text) =>
  text.split(/[\r\n\t\v\f\u2028\u2029]+/)
    .map((one) => one.replace(/^[\s\u200b\u2060\ufeff]*(?:[-*\u2022\u00b7\u2013\u25aa]\s+)?|[\s\u200b\u2060\ufeff]+$/gu, ""))
    .filter(Boolean);

// A list of short phrases: each a chip that can be taken away, and a field for one more. `changed` is called with the
// phrases, and with the words of the notice where one was removed. `suggested` are offered as buttons below; `names` has
// what is shown instead of a value.
export function chips(label, values, { at, help, changed, writes, suggested = [], names = {}, required = false, optional = false }) {
  const shownAs = (value) => (Object.hasOwn(names, value) ? names[value] : String(value));
  const input = h("input", { type: "text", class: "chip-input", "data-at": at, autocomplete: "off", "aria-required": required && "true", ...marked(writes) });
  const take = (fresh) => {
    const added = [...new Set(fresh)].filter((one) => !values.includes(one));
    if (added.length) changed([...values, ...added]);
  };
  const add = () => {
    const fresh = input.value.split(",").flatMap(phrasesOf);
    input.value = "";
    take(fresh);
  };
  // A field of one line would join what was copied as several.
  input.addEventListener("paste", (event) => {
    const pasted = phrasesOf(event.clipboardData?.getData("text/plain") ?? "");
    if (pasted.length < 2) return;
    event.preventDefault();
    const typed = input.value;
    // Leaving the field would add what was typed once more.
    input.value = "";
    take([...typed.split(",").flatMap(phrasesOf), ...pasted]);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === ",") {
      event.preventDefault();
      add();
    } else if (event.key === "Backspace" && !input.value && values.length) {
      changed(values.slice(0, -1), interpolate(gettext("%(name)s removed"), { name: shownAs(values.at(-1)) }, true));
    }
  });
  input.addEventListener("change", add);
  const shown = values.map((value, index) =>
    h("li", { class: "chip" }, h("span", {}, shownAs(value)), h("button", {
      type: "button", class: "chip-remove", "aria-label": interpolate(gettext("Remove %(name)s"), { name: shownAs(value) }, true), "data-at": `${at}-remove-${index}`,
      onclick: () => changed(values.filter((_, other) => other !== index), interpolate(gettext("%(name)s removed"), { name: shownAs(value) }, true)),
    }, "×")));
  const made = field(label, input, help ?? gettext("Press Enter after each."), { optional });
  made.classList.add("chips");
  made.insertBefore(h("ul", { class: "chip-list", "aria-label": interpolate(gettext("%(label)s, selected"), { label }, true) }, shown), input);
  const offered = suggested.filter((one) => !values.includes(one));
  if (offered.length) {
    made.append(h("p", { class: "field__hint toolbar" }, gettext("Suggestions:"),
      offered.map((one) => h("button", { type: "button", class: "btn btn--sm", "data-at": `${at}-suggested-${one}`, onclick: () => changed([...values, one]) }, shownAs(one)))));
  }
  return made;
}

// One line a phrase.
export function lines(label, values, { at, help, changed, writes, rows = 3, optional = false }) {
  const area = h("textarea", { rows, "data-at": at, ...marked(writes), value: values.join("\n") });
  area.addEventListener("input", () => changed(area.value.split("\n").map((one) => one.trim()).filter(Boolean)));
  return field(label, area, help ?? gettext("One per line."), { optional });
}

export function text(label, value, { at, help, changed, required, optional, most, rows, type = "text", onleave = false, writes, ...rest }) {
  const more = { ...rest, "aria-required": required && "true", ...marked(writes) };
  const control = rows
    ? h("textarea", { rows, "data-at": at, value: value ?? "", ...more })
    : h("input", { type, "data-at": at, value: value ?? "", autocomplete: "off", ...more });
  const made = field(label, control, help, { optional });
  control.addEventListener(onleave ? "change" : "input", () => changed(control.value, control));
  if (!most) return made;
  const count = h("span", { class: "count", "aria-hidden": "true" });
  const tell = () => {
    const left = [...control.value].length;
    count.hidden = left < 0.8 * most;
    count.textContent = `${left} / ${most}`;
    count.classList.toggle("is-over", left > most);
  };
  // Text that changes beside a field ends what the browser undoes in one step: not with each letter.
  let pause = 0;
  control.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(tell, 300);
  });
  tell();
  made.querySelector("label").append(count);
  return made;
}

export function choice(label, value, options, { at, help, changed, writes, ...more }) {
  const select = h("select", { class: "select", "data-at": at, ...more, ...marked(writes) },
    options.map(([key, words, isOff]) => h("option", { value: key, selected: key === value, disabled: isOff }, words)));
  select.addEventListener("change", () => changed(select.value));
  return field(label, select, help);
}

export function tick(label, checked, { at, changed, help = "", writes, ...more }) {
  const box = h("input", { type: "checkbox", id: newId(), "data-at": at, checked, ...more, ...marked(writes) });
  box.addEventListener("change", () => changed(box.checked));
  if (help) box.setAttribute("aria-describedby", `${box.id}-help`);
  return h("div", { class: "tick" }, box, h("label", { for: box.id }, label),
    help ? h("p", { class: "field__hint", id: `${box.id}-help` }, help) : null);
}

export const button = (words, onclick, more = {}) =>
  h("button", { type: "button", class: `btn btn--sm ${more.kind ?? ""}`, "data-at": more.at, "aria-label": more.label, onclick, disabled: more.disabled ?? false }, words);

export const group = (title, help, ...children) =>
  h("section", { class: "form-group" }, h("h3", {}, title), help ? h("p", { class: "field__hint" }, help) : null, children);
