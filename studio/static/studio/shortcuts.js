// Keys that lead somewhere. Whoever types into a field types letters; single keys can be switched off.
(() => {
  const dialog = document.getElementById("shortcuts");
  const choice = dialog.querySelector("[data-single-keys]");
  const opener = document.querySelector("[data-open-shortcuts]");
  const GO_MS = 1500;
  let goesUntil = 0;

  try {
    choice.checked = localStorage.getItem("single-keys") !== "off";
  } catch {
    // Storage can be shut off; then the keys work, and the choice holds for this page.
  }
  choice.addEventListener("change", () => {
    try {
      localStorage.setItem("single-keys", choice.checked ? "on" : "off");
    } catch {
      // As above.
    }
  });
  opener.hidden = false;
  opener.addEventListener("click", () => dialog.showModal());
  dialog.querySelector("[data-close]").addEventListener("click", () => dialog.close());

  const isTyping = (element) =>
    element instanceof HTMLElement && (element.isContentEditable || element.matches("input, textarea, select"));

  function lead(event) {
    if (event.key === "?") {
      dialog.showModal();
    } else if (event.key === "/") {
      const search = document.querySelector("main input[type=search]");
      if (!search) return;
      search.focus();
      search.select();
    } else if (performance.now() < goesUntil) {
      goesUntil = 0;
      const link = document.querySelector(`[data-go="${CSS.escape(event.key.toLowerCase())}"]`);
      if (!link) return;
      link.click();
    } else if (event.key === "g") {
      goesUntil = performance.now() + GO_MS;
    } else {
      return;
    }
    event.preventDefault();
  }

  document.addEventListener("keydown", (event) => {
    if (!choice.checked || event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    lead(event);
  });
})();
