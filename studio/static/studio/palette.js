// The command palette: Ctrl+K or Cmd+K. Pages and actions are those of this page; capabilities and pages of the docs come from the server.
(() => {
  const dialog = document.getElementById("palette");
  const input = document.getElementById("palette-words");
  const list = document.getElementById("palette-found");
  const state = dialog.querySelector(".palette__state");
  const WAIT_MS = 120;
  const isMac = /mac/i.test(navigator.platform);
  let chosen = -1;
  let asked = null;
  let waiting = 0;

  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const here = () => [
    ...[...document.querySelectorAll("[data-page]")].map((link) => entry("page", link)),
    ...[...document.querySelectorAll("[data-action]")].map((link) => entry("action", link)),
  ];
  const entry = (kind, link) => ({
    kind,
    label: link.dataset.action || link.title || link.textContent.trim(),
    note: link.dataset.go ? `g ${link.dataset.go}` : "",
    url: link.href,
    icon: link.dataset.page || "arrow-up-right",
  });

  // Every word has to be there; what begins with the first one comes first.
  function fitting(text) {
    const words = folded(text).split(/\s+/).filter(Boolean);
    const fits = here().filter((one) => words.every((word) => folded(one.label).includes(word)));
    const weight = (one) => (words.length && folded(one.label).startsWith(words[0]) ? 0 : 1);
    return fits.sort((one, other) => weight(one) - weight(other));
  }

  function picture(name) {
    const SVG = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(SVG, "svg");
    const use = document.createElementNS(SVG, "use");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    use.setAttribute("href", `${dialog.dataset.sprite}#${name}`);
    svg.append(use);
    return svg;
  }

  function option(one, place) {
    const item = document.createElement("li");
    item.id = `palette-${place}`;
    item.className = "palette__item";
    item.setAttribute("role", "option");
    item.dataset.url = one.url;
    const label = document.createElement("bdi");
    label.textContent = one.label;
    const note = document.createElement("span");
    note.className = "end";
    note.textContent = [one.note, list.getAttribute(`data-group-${one.kind}`)].filter(Boolean).join(" · ");
    item.append(picture(one.icon ?? "blocks"), label, note);
    return item;
  }

  function show(found, words) {
    list.replaceChildren(...found.map(option));
    state.textContent = words ?? (found.length ? "" : state.dataset.nothing);
    choose(found.length ? 0 : -1);
  }

  function choose(place) {
    chosen = place;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === place)));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[place].id);
    list.children[place]?.scrollIntoView({ block: "nearest" });
  }

  async function ask(text, own) {
    asked?.abort();
    asked = new AbortController();
    const { signal } = asked;
    try {
      const response = await fetch(`${dialog.dataset.source}?q=${encodeURIComponent(text)}`, { signal });
      // A session that has ended answers with the sign-in page.
      if (!response.ok || response.redirected) throw new Error(String(response.status));
      const { found, docs = [] } = await response.json();
      const capabilities = found.map((one) => ({ ...one, kind: "capability" }));
      const pages = docs.map((one) => ({ ...one, kind: "docs", icon: "book-open" }));
      if (!signal.aborted) show([...own, ...capabilities, ...pages]);
    } catch {
      if (!signal.aborted) show(own, state.dataset.away);
    }
  }

  function search() {
    const text = input.value.trim();
    const own = fitting(text);
    clearTimeout(waiting);
    asked?.abort();
    show(own, text ? state.dataset.loading : undefined);
    if (text) waiting = setTimeout(() => ask(text, own), WAIT_MS);
  }

  function open() {
    document.querySelector("dialog[open]")?.close();
    input.value = "";
    dialog.showModal();
    input.focus();
    search();
  }

  const go = (place) => {
    const url = list.children[place]?.dataset.url;
    if (!url) return;
    dialog.close();
    // As a link of the page would.
    const link = Object.assign(document.createElement("a"), { href: url });
    document.body.append(link);
    link.click();
    link.remove();
  };

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const count = list.children.length;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && count) choose((chosen + steps[event.key] + count) % count);
    else if (event.key === "Enter") go(chosen);
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", ({ target }) => {
    const item = target.closest("[role=option]");
    if (item) go([...list.children].indexOf(item));
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => asked?.abort());
  document.addEventListener("keydown", (event) => {
    // On a Mac Ctrl+K deletes to the end of a line.
    if (!(isMac ? event.metaKey : event.ctrlKey) || event.altKey || event.shiftKey) return;
    if (event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });
  for (const opener of document.querySelectorAll("[data-open-palette]")) {
    opener.setAttribute("role", "button");
    opener.setAttribute("aria-haspopup", "dialog");
    opener.addEventListener("click", (event) => {
      event.preventDefault();
      open();
    });
    opener.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      open();
    });
  }
  for (const hint of document.querySelectorAll("[data-needs-script]")) hint.hidden = false;
  if (isMac) {
    for (const key of document.querySelectorAll(".searchbox kbd")) key.textContent = "⌘ K";
  }
})();
