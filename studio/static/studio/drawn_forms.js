// The forms of a capability on its overview: drawn by the renderer that agents' users see, and inert.
(() => {
  const frames = new Map();

  const theme = () => document.documentElement.dataset.theme;

  function page(facts) {
    return `<!doctype html><html lang="en" data-theme="${theme()}" class="a2ui-${theme()}"><head><meta charset="utf-8">` +
      `<link rel="stylesheet" href="${facts.dataset.style}"><script src="${facts.dataset.surface}"></script></head><body></body></html>`;
  }

  // The frame has an origin of its own: what it says is data, whoever wrote the form.
  function draw(place, facts, forms) {
    const form = forms[Number(place.dataset.drawnForm)];
    const old = place.querySelector("iframe");
    frames.delete(old);
    old?.remove();
    place.classList.remove("is-drawn");
    const frame = document.createElement("iframe");
    frame.title = interpolate(gettext("Form %(name)s"), { name: form.title }, true);
    frame.tabIndex = -1;
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = page(facts);
    frames.set(frame, { place, form });
    place.append(frame);
  }

  addEventListener("message", (event) => {
    for (const [frame, { place, form }] of frames) {
      if (event.source !== frame.contentWindow) continue;
      const said = event.data ?? {};
      if (said.type === "ready") frame.contentWindow.postMessage({ type: "render", messages: form.messages, theme: theme() }, "*");
      if (said.type === "size" && Number.isFinite(said.height)) {
        frame.height = Math.min(1200, Math.max(120, Math.ceil(said.height)));
        place.classList.add("is-drawn");
      }
    }
  });
  function drawAll() {
    const facts = document.getElementById("drawn-forms");
    if (!facts) return;
    const forms = JSON.parse(document.getElementById("drawn-form-data").textContent);
    for (const place of document.querySelectorAll("[data-drawn-form]")) draw(place, facts, forms);
  }
  const paint = () => frames.forEach((_form, frame) => frame.contentWindow?.postMessage({ theme: theme() }, "*"));
  new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  htmx.onLoad((part) => {
    if (part.querySelector("#drawn-forms")) drawAll();
  });
})();
