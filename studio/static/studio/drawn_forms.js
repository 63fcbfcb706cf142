// Frames in which forms are drawn by the renderer that agents' users see. Each has an origin of its own: what it says is data,
// whoever wrote the form. What is typed stays when the theme changes.
window.formFrames = (() => {
  const opened = new Map();
  const theme = () => document.documentElement.dataset.theme;

  const page = ({ style, surface }) =>
    `<!doctype html><html lang="en" data-theme="${theme()}" class="a2ui-${theme()}"><head><meta charset="utf-8">` +
    `<link rel="stylesheet" href="${style}"><script src="${surface}"></script></head><body></body></html>`;

  // `facts` are the addresses of its style and script; `heard` gets what it says. It is to be put into the page at once.
  function open(facts, title, messages, heard) {
    for (const frame of opened.keys()) if (!frame.isConnected) opened.delete(frame);
    const frame = document.createElement("iframe");
    frame.title = interpolate(gettext("Form %(name)s"), { name: title }, true);
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = page(facts);
    opened.set(frame, { messages, heard });
    return frame;
  }

  addEventListener("message", ({ source, data }) => {
    for (const [frame, { messages, heard }] of opened) {
      if (source !== frame.contentWindow) continue;
      const said = data ?? {};
      if (said.type === "ready") source.postMessage({ type: "render", messages, theme: theme() }, "*");
      else heard(said);
    }
  });
  const paint = () => opened.forEach((_form, frame) => frame.contentWindow?.postMessage({ theme: theme() }, "*"));
  new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return { open };
})();

// The forms of a capability on its overview, inert.
htmx.onLoad((part) => {
  const facts = part.querySelector("#drawn-forms");
  if (!facts) return;
  const forms = JSON.parse(document.getElementById("drawn-form-data").textContent);
  for (const place of document.querySelectorAll("[data-drawn-form]:not(:has(> iframe))")) {
    const form = forms[Number(place.dataset.drawnForm)];
    const frame = window.formFrames.open(facts.dataset, form.title, form.messages, (said) => {
      if (said.type !== "size" || !Number.isFinite(said.height)) return;
      frame.height = Math.min(1200, Math.max(120, Math.ceil(said.height)));
      place.classList.add("is-drawn");
    });
    frame.tabIndex = -1;
    place.append(frame);
  }
});
