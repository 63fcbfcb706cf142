// A comment is written below the line that it is about: the link of a line number opens the form there, without a page load.
// Without this script the link leads to the form beside the texts.
(() => {
  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // The form beside the texts, for a line.
  function composer(say, file, line, text, close) {
    const kept = ["csrfmiddlewaretoken", "round"].map((name) => [name, say.elements[name].value]);
    const hidden = [...kept, ["file", file], ["line", line]].map(([name, value]) => element("input", { type: "hidden", name, value }));
    const id = `words-${file}-${line}`;
    const words = element("textarea", { id, name: "words", class: "textarea", rows: 3, maxlength: 4000, required: "" });
    const label = element("label", { for: id, class: "field__label" }, interpolate(gettext("Comment on %(file)s:%(line)s"), { file, line }, true));
    // The line as it should be: what is left as it is suggests nothing.
    const change = element("textarea", { id: `${id}-suggestion`, name: "suggestion", class: "textarea mono", rows: 2, maxlength: 4000 });
    change.defaultValue = text;
    const suggest = element("details", {}, element("summary", {}, gettext("Suggest a change")),
      element("label", { for: change.id, class: "field__label" }, gettext("The line as it should be")), change);
    change.addEventListener("input", () => words.toggleAttribute("required", change.value === text));
    const send = element("button", { type: "submit", class: "btn btn--sm btn--primary" }, gettext("Comment"));
    const cancel = element("button", { type: "button", class: "btn btn--sm btn--ghost" }, gettext("Cancel"));
    cancel.addEventListener("click", close);
    const form = element("form", { class: "composer__form", method: "post", action: say.dataset.commentAddress },
      ...hidden, label, words, suggest, element("div", { class: "row" }, send, cancel));
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !words.value.trim()) close();
    });
    return form;
  }

  function open(link, say) {
    const row = link.closest("tr");
    const given = new URL(link.href).searchParams;
    // Below what was said on that line already.
    const after = row.nextElementSibling?.matches(".is-said:not(.composer)") ? row.nextElementSibling : row;
    let place = after.nextElementSibling;
    if (!place?.matches(".composer")) {
      place = element("tr", { class: "is-said composer" });
      const close = () => {
        place.remove();
        link.focus();
      };
      const cell = place.insertCell();
      cell.colSpan = link.closest(".sides").classList.contains("is-whole") ? 2 : 4;
      cell.append(composer(say, given.get("file"), given.get("line"), row.cells[3].textContent, close));
      after.after(place);
    }
    place.querySelector("textarea").focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".sides-no a[href*='line=']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const say = document.querySelector("form#say[data-comment-address]");
    if (!say) return;
    event.preventDefault();
    open(link, say);
  });
  // A comment on a line or an answer loads the page again: what is said of the whole draft by then stays.
  const decision = () => document.querySelector("form#say[data-comment-address]");
  const nameOf = (say) => `${say.dataset.commentAddress}#${say.elements.round.value}`;
  const keep = ({ target }) => {
    const say = target.closest("form#say[data-comment-address]");
    const { decision: choice, words } = say?.elements ?? {};
    if (choice) sessionStorage.setItem(nameOf(say), JSON.stringify([choice.value, words.value]));
  };
  const restore = () => {
    const say = decision();
    const [choice, words] = JSON.parse((say && sessionStorage.getItem(nameOf(say))) ?? "[]");
    const radio = choice && say.querySelector(`[name=decision][value="${choice}"]`);
    if (!radio || say.elements.words.value) return;
    radio.checked = true;
    say.elements.words.value = words;
  };
  document.addEventListener("input", keep);
  document.addEventListener("htmx:afterSettle", restore);
  restore();

  // What is typed is not sent yet.
  addEventListener("beforeunload", (event) => {
    const isTyped = [...document.querySelectorAll(".composer textarea")].some((area) => area.value !== area.defaultValue && area.value.trim() && !area.form.dataset.sent);
    if (isTyped) event.preventDefault();
  });
  document.addEventListener("submit", ({ target }) => {
    if (target.closest(".composer")) target.dataset.sent = "yes";
    if (target === decision()) sessionStorage.removeItem(nameOf(target));
  });
})();
