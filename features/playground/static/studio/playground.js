// The playground: draw the forms of what is in use, and show what filling them would call. Nothing is called.
(() => {
  for (const link of document.querySelectorAll("[data-copy-link]")) {
    link.addEventListener("click", async (event) => {
      if (!navigator.clipboard) return;
      event.preventDefault();
      await navigator.clipboard.writeText(link.href).catch(() => location.assign(link.href));
      const label = link.querySelector("span");
      const words = label.textContent;
      label.textContent = gettext("Copied");
      setTimeout(() => {
        label.textContent = words;
      }, 2000);
    });
  }

  // Enter sends, Shift and Enter begin a line; while an input method is composing, Enter is its own.
  const message = document.getElementById("m");
  message?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (message.value.trim()) message.form.requestSubmit();
    }
  });
  document.getElementById("last-message")?.scrollIntoView();

  const facts = document.getElementById("talk-forms");
  if (!facts) return;
  const forms = JSON.parse(document.getElementById("form-data").textContent);
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const frames = new Map();

  function page() {
    const theme = isDark() ? "dark" : "light";
    return `<!doctype html><html lang="en" data-theme="${theme}" class="a2ui-${theme}"><head><meta charset="utf-8">` +
      `<link rel="stylesheet" href="${facts.dataset.style}"><script src="${facts.dataset.surface}"></script></head><body></body></html>`;
  }

  function element(name, words, classes = "") {
    const made = document.createElement(name);
    made.textContent = words;
    made.className = classes;
    return made;
  }

  // The frame has an origin of its own: what it says is data, whoever wrote the form.
  function draw(section) {
    const form = forms[Number(section.dataset.form)];
    section.querySelector(".talk-frame")?.remove();
    const frame = document.createElement("iframe");
    frame.className = "talk-frame";
    frame.title = interpolate(gettext("Form %(name)s"), { name: form.title }, true);
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = page();
    const log = section.querySelector(".talk-log") ?? section.appendChild(element("ol", "", "talk-log"));
    log.setAttribute("aria-live", "polite");
    log.before(frame);
    frames.set(section, { frame, form, log });
  }

  const TAGS = { runs: "badge--success", approval: "badge--warning", refused: "badge--danger", none: "" };
  const WORDS = { runs: gettext("Runs"), approval: gettext("Needs approval"), refused: gettext("Blocked"), none: gettext("No call") };

  async function acted({ form, log }, { name, context }) {
    const sent = JSON.stringify(context ?? {});
    if (sent.length > 100_000) return;
    const entry = element("li", "");
    log.prepend(entry);
    while (log.children.length > 10) log.lastChild.remove();
    const body = new FormData();
    const fields = { capability_id: form.capability_id, schema_id: form.schema_id, action: name, context: sent, drafts: facts.dataset.drafts };
    for (const [key, value] of Object.entries(fields)) body.set(key, value);
    const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "HX-Request": "true" };
    try {
      const response = await fetch(facts.dataset.actionAddress, { method: "POST", body, headers });
      if (!response.ok) throw new Error("refused");
      const told = await response.json();
      const line = element("p", "");
      line.append(element("span", WORDS[told.standing] ?? "", `badge ${TAGS[told.standing] ?? ""}`), ` ${told.words}`);
      entry.append(line);
      if (told.tool) {
        const call = element("p", "");
        call.append(element("code", told.tool), ` ${told.policy}`);
        entry.append(call);
      }
      if (told.arguments) {
        const given = element("pre", told.arguments, "mono");
        given.tabIndex = 0;
        given.setAttribute("aria-label", gettext("Arguments"));
        entry.append(given);
      }
    } catch {
      entry.append(element("p", gettext("Couldn't check this. You may be signed out."), "field__error"));
    }
  }

  addEventListener("message", (event) => {
    for (const one of frames.values()) {
      if (event.source !== one.frame.contentWindow) continue;
      const said = event.data ?? {};
      if (said.type === "ready") one.frame.contentWindow.postMessage({ type: "render", messages: one.form.messages }, "*");
      if (said.type === "size" && Number.isFinite(said.height)) one.frame.height = Math.min(1600, Math.max(120, Math.ceil(said.height)));
      if (said.type === "action" && typeof said.name === "string") acted(one, said);
    }
  });
  const drawAll = () => document.querySelectorAll("[data-form]").forEach(draw);
  new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  drawAll();
})();
