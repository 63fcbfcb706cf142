// What every form does: what is missing is said beside its field, and the button that sends shows that it is busy.
// Without this script the browser says what is missing.
(() => {
  const wordsFor = (field) => {
    if (field.pattern && field.title) return field.title;
    if (!field.validity.valueMissing) return field.validationMessage;
    if (field.type === "checkbox") return gettext("Tick this to continue.");
    return field.matches("select") ? gettext("Choose an option.") : gettext("Fill in this field.");
  };

  // Below the field and what is in its row.
  function place(field, fault) {
    const box = field.closest(".field");
    if (box) box.append(fault);
    else (field.closest(".row, .input-icon, .tick, label") ?? field).after(fault);
  }

  function clear(field) {
    if (!field.validity.valid) return;
    document.getElementById(field.dataset.fault)?.remove();
    field.removeAttribute("aria-invalid");
    const others = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== field.dataset.fault);
    if (others.length) field.setAttribute("aria-describedby", others.join(" "));
    else field.removeAttribute("aria-describedby");
    delete field.dataset.fault;
  }

  let made = 0;
  function say(field) {
    let fault = document.getElementById(field.dataset.fault);
    if (!fault) {
      made += 1;
      fault = document.createElement("p");
      fault.className = "field__error";
      fault.id = field.dataset.fault = `fault-${made}`;
      fault.setAttribute("role", "alert");
      place(field, fault);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", `${field.getAttribute("aria-describedby") ?? ""} ${fault.id}`.trim());
      field.addEventListener("input", () => clear(field));
      field.addEventListener("change", () => clear(field));
    }
    fault.textContent = wordsFor(field);
  }

  // All fields of a form that is sent are marked at once; the first one gets the focus.
  let isFirst = true;
  document.addEventListener("invalid", (event) => {
    const field = event.target;
    if (!field.checkVisibility()) return;
    event.preventDefault();
    say(field);
    if (!isFirst) return;
    isFirst = false;
    field.focus();
    // Between the events of two fields microtasks are run.
    setTimeout(() => {
      isFirst = true;
    });
  }, true);

  // What is done before anybody can see it needs no sign.
  const BUSY_AFTER_MS = 150;
  // A page that does not leave, since its person stays or what was sent is a download.
  const BUSY_AT_MOST_MS = 20000;
  const timers = new WeakMap();
  function setBusy(button) {
    if (!button?.matches(".btn") || timers.has(button)) return;
    timers.set(button, [
      setTimeout(() => button.setAttribute("aria-busy", "true"), BUSY_AFTER_MS),
      setTimeout(() => clearBusy(button), BUSY_AT_MOST_MS),
    ]);
  }
  function clearBusy(button) {
    for (const timer of timers.get(button) ?? []) clearTimeout(timer);
    timers.delete(button);
    button.removeAttribute("aria-busy");
  }

  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (event.defaultPrevented || !button || button.matches("[data-downloads]")) return;
    setBusy(button);
  });
  // htmx sends it, or a script asks about it first.
  const pressed = ({ detail: { elt, requestConfig } }) =>
    elt.matches("button") ? elt : requestConfig.triggeringEvent?.submitter;
  document.addEventListener("htmx:beforeRequest", (event) => setBusy(pressed(event)));
  document.addEventListener("htmx:afterRequest", (event) => {
    const button = pressed(event);
    if (button) clearBusy(button);
  });
  document.addEventListener("studio:confirming", ({ detail }) => setBusy(detail));
  document.addEventListener("studio:asked", ({ detail }) => detail && clearBusy(detail));
  // The browser shows a page again as it was left.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) for (const button of document.querySelectorAll(".btn[aria-busy]")) clearBusy(button);
  });
})();
