// Ticks in a list: all of the page at once, and how many are chosen. Without this script each row has its own tick.
(() => {
  function prepare(form) {
    const all = form.querySelector("[data-choose-all]");
    const told = form.querySelector("[data-chosen-count]");
    const ticks = [...form.querySelectorAll("input[name=chosen]")];
    const buttons = [...form.querySelectorAll("button[type=submit]")];

    function show() {
      const count = ticks.filter((tick) => tick.checked).length;
      all.checked = count === ticks.length;
      all.indeterminate = count > 0 && count < ticks.length;
      told.hidden = count === 0;
      told.textContent = interpolate(gettext("%(count)s selected"), { count }, true);
      for (const button of buttons) button.disabled = count === 0;
    }

    all.closest("label").hidden = false;
    all.addEventListener("change", () => {
      for (const tick of ticks) tick.checked = all.checked;
      show();
    });
    form.addEventListener("change", show);
    show();
  }

  // The address names only the filters that are set.
  document.body.addEventListener("htmx:configRequest", ({ detail }) => {
    if (detail.verb !== "get") return;
    for (const name of Object.keys(detail.parameters)) {
      if (detail.parameters[name] === "") delete detail.parameters[name];
    }
  });
  htmx.onLoad((part) => {
    part.querySelectorAll("[data-bulk-select]").forEach(prepare);
    // What was typed before the scripts were there is searched for as well.
    const search = part.querySelector("#search");
    if (search && search.value !== search.defaultValue) htmx.trigger(search.form, "submit");
  });
})();
