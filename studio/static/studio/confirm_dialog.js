// A form that leads to a confirmation (`data-confirms` on it, or on its button) opens it as a dialog: the server is asked for
// the same question as a fragment. Without this script, or where the server cannot be reached, the form is sent as it is.
(() => {
  // What was asked for already, and is to be sent.
  let plain = null;

  async function question(form, button) {
    const address = new URL(button?.getAttribute("formaction") ?? form.getAttribute("action"), location.href);
    const fields = new FormData(form, button);
    fields.delete("csrfmiddlewaretoken");
    address.search = new URLSearchParams(fields).toString();
    const response = await fetch(address, { headers: { "HX-Request": "true" } });
    const elsewhere = response.headers.get("HX-Redirect");
    if (elsewhere) {
      location.assign(elsewhere);
      return "";
    }
    if (response.status !== 200 || response.redirected) throw new Error("There is no question.");
    return response.text();
  }

  function open(html, opener) {
    const dialog = document.createElement("dialog");
    dialog.className = "dialog";
    dialog.setAttribute("aria-labelledby", "question");
    dialog.innerHTML = html;
    dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
    // A click beside it is Cancel as well.
    dialog.addEventListener("click", ({ target }) => {
      if (target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      // A click in the dialog has closed the menu that the button is in.
      const back = opener?.checkVisibility() ? opener : opener?.closest("details[data-menu]")?.querySelector("summary");
      back?.focus();
    });
    document.body.append(dialog);
    htmx.process(dialog);
    dialog.showModal();
  }

  document.addEventListener("submit", async (event) => {
    const { target: form, submitter: button } = event;
    if (plain === form) {
      plain = null;
      return;
    }
    if (!form.matches("[data-confirms]") && !button?.matches("[data-confirms]")) return;
    event.preventDefault();
    if (form.dataset.confirming) return;
    form.dataset.confirming = "yes";
    document.dispatchEvent(new CustomEvent("studio:confirming", { detail: button }));
    try {
      const html = await question(form, button);
      if (html) open(html, button);
    } catch {
      plain = form;
      form.requestSubmit(button);
    } finally {
      delete form.dataset.confirming;
      document.dispatchEvent(new CustomEvent("studio:asked", { detail: button }));
    }
  });
})();
