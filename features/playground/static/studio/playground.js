// The playground: draw forms, show what filling one would call, and keep in view what comes next. No tool runs.
(() => {
  const facts = document.querySelector("[data-action-address]");
  if (!facts) return;

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
  addEventListener("keydown", (event) => {
    const message = event.target;
    if (message.id !== "m" || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (message.value.trim()) message.form.requestSubmit();
  });

  function element(name, words, classes = "") {
    const made = document.createElement(name);
    made.textContent = words;
    made.className = classes;
    return made;
  }

  const ACTS = { tried: showCall, sent: sendForm };

  function draw(place) {
    const { title, messages, draws } = place.dataset;
    const frame = window.formFrames.open(facts.dataset, title, JSON.parse(messages), (said) => {
      if (said.type === "size" && Number.isFinite(said.height)) {
        const isFirst = !frame.height;
        frame.height = Math.min(1600, Math.max(120, Math.ceil(said.height)));
        // The card has its height only now.
        if (isFirst && place.closest("[data-next]") && document.activeElement?.id === "decide") bring(next(), motion());
      }
      if (said.type !== "action" || typeof said.name !== "string") return;
      const context = JSON.stringify(said.context ?? {});
      if (context.length <= 100_000) ACTS[draws]?.(place, { action: said.name, context });
    });
    frame.className = "talk-frame";
    if (draws === "shown") frame.tabIndex = -1;
    place.prepend(frame);
  }

  // What is drawn stays, with what is typed into it.
  const drawAll = () => document.querySelectorAll("[data-draws]:not(:has(> iframe))").forEach(draw);

  function sendForm(form, event) {
    for (const [name, value] of Object.entries(event)) {
      const input = form.elements.namedItem(name) ?? form.appendChild(element("input", ""));
      Object.assign(input, { type: "hidden", name, value });
    }
    form.requestSubmit();
  }

  const TAGS = { runs: "badge--success", approval: "badge--warning", refused: "badge--danger", none: "" };
  const WORDS = { runs: gettext("Runs"), approval: gettext("Needs approval"), refused: gettext("Blocked"), none: gettext("No call") };

  async function showCall(place, event) {
    const log = place.querySelector("ol") ?? place.appendChild(element("ol", "", "talk-log"));
    log.setAttribute("aria-live", "polite");
    const entry = element("li", "");
    log.prepend(entry);
    while (log.children.length > 10) log.lastChild.remove();
    const body = new FormData();
    const { capability, schema } = place.dataset;
    const fields = { capability_id: capability, schema_id: schema, drafts: facts.dataset.drafts, ...event };
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
        call.append(element("bdi", told.tool, "medium"), ` ${told.policy}`);
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

  drawAll();

  // What comes next is in view, and a card that waits for a person has the focus.
  const next = () => document.querySelector("#conversation [data-next]");
  const isOfChat = (event) => event.target.id === "conversation";

  const motion = () => (matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth");

  // A card that is higher than the window begins at its top.
  function bring(element, behavior) {
    const isHigh = element.getBoundingClientRect().height > innerHeight / 2;
    element.scrollIntoView({ block: isHigh ? "start" : "end", behavior });
  }

  // The heading and not the button: Enter, pressed for something else, approves nothing.
  function focusCard() {
    const heading = document.getElementById("decide");
    const here = document.activeElement;
    if (heading && (!here || here === document.body)) heading.focus({ preventScroll: true });
  }

  // A chat opens at its end, also where it is loaded again. An error is said above the card.
  document.getElementById("last-message")?.scrollIntoView();
  if (next()) history.scrollRestoration = "manual";
  addEventListener("load", () => {
    if (!next() || document.querySelector("#conversation [role='alert']")) return;
    const last = document.querySelector("#conversation .chat > :last-child");
    bring(next().closest(".play__composer") && last ? last : next(), "auto");
    focusCard();
  });

  // A person who has scrolled away from what is being written reads something else.
  let isFollowed = true;
  const END = 160;
  addEventListener("htmx:beforeSwap", (event) => {
    if (isOfChat(event)) isFollowed = innerHeight + scrollY >= document.documentElement.scrollHeight - END;
  });
  addEventListener("htmx:afterSettle", (event) => {
    if (!isOfChat(event) || !next()) return;
    drawAll();
    if (document.getElementById("decide")) bring(next(), motion());
    else if (isFollowed) document.querySelector("#conversation .chat > :last-child")?.scrollIntoView({ block: "end" });
    focusCard();
  });
})();
