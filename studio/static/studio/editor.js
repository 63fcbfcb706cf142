// The four-file editor: tabs, line numbers with marks, the way from a finding to its place, and saving.
const editor = document.getElementById("editor");
const saveButton = editor.querySelector("[data-save]");
const reviewButton = editor.querySelector("[data-save-then]");
const tabs = [...editor.querySelectorAll('[role="tab"]')];
const panels = [...editor.querySelectorAll(".file")];
const textOf = (panel) => panel.querySelector("textarea");
const texts = () => panels.map((panel) => textOf(panel).value);

// What the server has. A browser may put back what was typed before a reload, so this is not simply what is shown.
let saved = "unsaved" in editor.dataset ? null : panels.map((panel) => textOf(panel).defaultValue);
let sent = null;
let goesOn = false;
let here = null;

const isDirty = () => saved === null || texts().some((text, index) => text !== saved[index]);

function show(name, focus) {
  for (const tab of tabs) {
    const isShown = tab.dataset.file === name;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    if (isShown && focus) tab.focus();
  }
  for (const panel of panels) panel.hidden = panel.dataset.file !== name;
  draw();
}

function step(event) {
  const at = tabs.indexOf(event.currentTarget);
  const moves = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 };
  if (!(event.key in moves)) return;
  show(tabs.at(moves[event.key] % tabs.length).dataset.file, true);
  event.preventDefault();
}

// {file: {line: severity}} of the findings that have a place.
function marks() {
  const found = {};
  for (const place of document.querySelectorAll("#findings .finding-place[data-file]")) {
    const severity = place.closest(".finding").classList.contains("finding-error") ? "error" : "warning";
    const lines = (found[place.dataset.file] ??= {});
    const line = place.dataset.line ?? 1;
    if (lines[line] !== "error") lines[line] = severity;
  }
  return found;
}

function draw() {
  const found = marks();
  for (const panel of panels) if (!panel.hidden) drawGutter(panel, found[panel.dataset.file] ?? {});
  for (const tab of tabs) {
    const severities = Object.values(found[tab.dataset.file] ?? {});
    const mark = severities.includes("error") ? "error" : severities.length ? "warning" : "";
    tab.dataset.mark = mark;
    tab.querySelector(".visually-hidden")?.remove();
    if (!mark) continue;
    const words = document.createElement("span");
    words.className = "visually-hidden";
    words.textContent = mark === "error" ? " (has errors)" : " (has warnings)";
    tab.append(words);
  }
}

// The lines that are in sight and no others: a file may have twenty thousand.
function drawGutter(panel, own) {
  const text = textOf(panel);
  const rows = panel.querySelector(".gutter-rows");
  const height = parseFloat(getComputedStyle(text).lineHeight);
  const first = Math.floor(text.scrollTop / height);
  const last = Math.min(lineCount(panel), first + Math.ceil(text.clientHeight / height) + 1);
  const current = here?.file === panel.dataset.file ? here.line : 0;
  const drawn = document.createDocumentFragment();
  for (let line = first + 1; line <= last; line += 1) {
    const row = document.createElement("div");
    row.textContent = String(line);
    if (own[line]) row.classList.add(`mark-${own[line]}`);
    if (line === current) row.classList.add("mark-here");
    drawn.append(row);
  }
  rows.replaceChildren(drawn);
  rows.style.transform = `translateY(${first * height - text.scrollTop}px)`;
}

const counted = new WeakMap();
function lineCount(panel) {
  const { value } = textOf(panel);
  const known = counted.get(panel);
  if (known?.value === value) return known.count;
  const count = value.split("\n").length;
  counted.set(panel, { value, count });
  return count;
}

// Columns count code points, selections count UTF-16 units.
function offsetOf(text, line, column) {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  const row = text.slice(start, end < 0 ? undefined : end);
  return start + [...row].slice(0, column - 1).join("").length;
}

function goTo({ file, line, column }) {
  const panel = panels.find((one) => one.dataset.file === file);
  if (!panel) return;
  here = line ? { file, line: Number(line) } : null;
  show(file);
  const text = textOf(panel);
  if (line) {
    const at = offsetOf(text.value, Number(line), Number(column ?? 1));
    // Taking the focus is what makes a browser scroll to the caret, sideways too.
    text.blur();
    text.setSelectionRange(at, at);
  }
  text.focus();
  if (line) text.scrollTop = Math.max(0, (line - 6) * parseFloat(getComputedStyle(text).lineHeight));
}

function tellState(words) {
  const place = editor.querySelector(".save-words");
  if (place.textContent.trim() !== words) place.textContent = words;
}

function tellFindings() {
  const tags = [...document.querySelectorAll("#findings .findings-head .tag")].map((tag) => tag.textContent.trim());
  const said = document.getElementById("findings-said");
  const words = `Findings: ${tags.join(", ")}`;
  if (said.textContent !== words) said.textContent = words;
}

function leave() {
  saved = texts();
}

editor.querySelector(".file-tabs").hidden = false;
for (const tab of tabs) {
  tab.addEventListener("click", () => show(tab.dataset.file));
  tab.addEventListener("keydown", step);
}
for (const [index, panel] of panels.entries()) {
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", tabs[index].id);
  const text = textOf(panel);
  text.addEventListener("input", () => {
    here = null;
    draw();
    tellState(isDirty() ? "Unsaved changes" : "As last saved");
  });
  text.addEventListener("scroll", () => drawGutter(panel, marks()[panel.dataset.file] ?? {}));
}
document.getElementById("findings").addEventListener("click", (event) => {
  const place = event.target.closest("a.finding-place");
  if (!place) return;
  event.preventDefault();
  goTo(place.dataset);
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "s") {
    event.preventDefault();
    saveButton.click();
  }
});
reviewButton.addEventListener("click", (event) => {
  event.preventDefault();
  goesOn = true;
  saveButton.click();
});

// A save that failed leaves the text where it is: studio.js says why.
document.body.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt !== saveButton) return;
  sent = texts();
  tellState("Saving…");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt !== saveButton) return;
  const { successful, xhr } = event.detail;
  if (xhr.status === 409) {
    // The conflict is a page of its own, with both texts: go there as a browser without scripts does.
    leave();
    editor.submit();
  } else if (successful) {
    saved = sent;
    if (isDirty()) tellState("Unsaved changes");
    if (goesOn) location.assign(reviewButton.dataset.saveThen);
  } else if (xhr.status === 422) {
    goesOn = false;
  }
});
// Told when a request failed for good; one that is tried again is not told.
document.addEventListener("studio:failed", () => {
  goesOn = false;
  if (isDirty()) tellState("Not saved");
});
document.body.addEventListener("htmx:afterSwap", () => {
  draw();
  tellFindings();
});
document.querySelector(".editor-foot")?.addEventListener("submit", leave);
window.addEventListener("beforeunload", (event) => {
  if (isDirty()) event.preventDefault();
});

window.addEventListener("resize", draw);

// Going back, a browser may show the page as it first was, from before it was saved; what the server has is newer.
const [navigation] = performance.getEntriesByType("navigation");
if (navigation?.type === "back_forward" && !isDirty()) location.reload();

show(tabs[0].dataset.file);
const asked = Object.fromEntries(new URLSearchParams(location.search));
if (asked.file) {
  const place = { file: asked.file, line: Number(asked.line) || null, column: Number(asked.column) || 1 };
  // The part behind # is for browsers without scripts; following it would take the focus away again.
  history.replaceState(null, "", location.pathname + location.search);
  goTo(place);
}
