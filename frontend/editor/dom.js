// Elements without a framework.
import { gettext } from "./gettext.js";

// `h("button", {class: "btn", onclick}, "Save")`; a property that begins with `on` listens, false and null are left out.
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "open" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

let count = 0;
export const newId = () => `f${(count += 1)}`;

// A label, its control and one sentence of help.
export function field(label, control, help = "", more = {}) {
  control.id ||= newId();
  const help_id = help ? `${control.id}-help` : null;
  if (help_id) control.setAttribute("aria-describedby", help_id);
  return h(
    "div", { class: `field ${more.class ?? ""}` },
    h("label", { class: "field__label", for: control.id }, label, more.optional ? h("span", { class: "needed" }, " ", gettext("optional")) : null),
    control,
    help ? h("p", { class: "field__hint", id: help_id }, help) : null,
  );
}

// Whether a text field is being left: what gets the focus, or the click, is still to come.
export const isLeaving = (event) => event?.type === "change" && event.target.matches("input:not([type=checkbox], [type=radio]), textarea");

let isPressed = false;
addEventListener("pointerdown", () => (isPressed = true), true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => (isPressed = false), true);

// Draws a form once the focus is where it goes, and a click that was begun is done: an earlier drawing takes both away.
// Nothing is left to do where the click itself has drawn the form.
export function drawWhenSettled(form) {
  const { draws } = form;
  const draw = () => form.draws === draws && form.draw();
  if (!isPressed) return setTimeout(draw);
  addEventListener("pointerup", () => setTimeout(draw), { once: true });
}

// The control that had the focus has it again after the form was drawn anew; `data-at` names it.
export function keepingFocus(root, draw) {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const at = active?.dataset.at;
  const selection = active && "selectionStart" in active ? active.selectionStart : null;
  // What is empty has no place to ask for, which would lay the page out.
  const scroll = root.firstChild && root.scrollTop;
  const open = new Set([...root.querySelectorAll("details[data-at]")].filter((one) => one.open).map((one) => one.dataset.at));
  const known = new Set([...root.querySelectorAll("details[data-at]")].map((one) => one.dataset.at));
  draw();
  for (const fold of root.querySelectorAll("details[data-at]")) {
    if (known.has(fold.dataset.at)) fold.open = open.has(fold.dataset.at);
    if (fold.open) fold.fill?.();
  }
  if (scroll) root.scrollTop = scroll;
  if (at === undefined) return;
  const again = root.querySelector(`[data-at="${CSS.escape(at)}"]`);
  if (!again) return;
  again.focus({ preventScroll: true });
  try {
    if (selection !== null) again.setSelectionRange(selection, selection);
  } catch {
    // Number fields have no caret that a script may set.
  }
}
