// The four-file editor: tabs, line numbers with marks, and the way from a finding to its place.
const editor = document.getElementById("editor");
const tabs = [...editor.querySelectorAll('[role="tab"]')];
const panels = [...editor.querySelectorAll(".file")];
let isDirty = false;

function show(name, focus) {
  for (const tab of tabs) {
    const isShown = tab.dataset.file === name;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    if (isShown && focus) tab.focus();
  }
  for (const panel of panels) panel.hidden = panel.dataset.file !== name;
  drawGutters();
}

function step(event) {
  const moves = { ArrowRight: 1, ArrowLeft: -1 };
  if (!(event.key in moves)) return;
  const at = tabs.indexOf(event.currentTarget);
  const next = tabs[(at + moves[event.key] + tabs.length) % tabs.length];
  show(next.dataset.file, true);
  event.preventDefault();
}

function places() {
  const found = {};
  for (const place of document.querySelectorAll("#findings [data-line]")) {
    const severity = place.closest(".finding").classList.contains("finding-error") ? "error" : "warning";
    const lines = (found[place.dataset.file] ??= {});
    if (lines[place.dataset.line] !== "error") lines[place.dataset.line] = severity;
  }
  return found;
}

function drawGutters() {
  const marks = places();
  for (const panel of panels) {
    if (panel.hidden) continue;
    const text = panel.querySelector("textarea");
    const gutter = panel.querySelector(".gutter");
    const count = text.value.split("\n").length;
    const own = marks[panel.dataset.file] ?? {};
    const rows = document.createDocumentFragment();
    for (let line = 1; line <= Math.min(count, 20000); line += 1) {
      const row = document.createElement("div");
      row.textContent = String(line);
      if (own[line]) row.className = `mark-${own[line]}`;
      rows.append(row);
    }
    gutter.replaceChildren(rows);
    gutter.scrollTop = text.scrollTop;
  }
  for (const tab of tabs) {
    const severities = Object.values(marks[tab.dataset.file] ?? {});
    tab.dataset.mark = severities.includes("error") ? "error" : severities.length ? "warning" : "";
  }
}

// Columns count code points, selections count UTF-16 units.
function offsetOf(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, row) => sum + row.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

function goTo(place) {
  show(place.dataset.file);
  const panel = panels.find((one) => one.dataset.file === place.dataset.file);
  if (!panel) return;
  const text = panel.querySelector("textarea");
  const line = Number(place.dataset.line);
  const at = offsetOf(text.value, line, Number(place.dataset.column));
  text.focus();
  text.setSelectionRange(at, at);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (line - 6) * height);
}

editor.querySelector(".file-tabs").hidden = false;
for (const tab of tabs) {
  tab.addEventListener("click", () => show(tab.dataset.file));
  tab.addEventListener("keydown", step);
}
for (const panel of panels) {
  panel.setAttribute("role", "tabpanel");
  const text = panel.querySelector("textarea");
  text.addEventListener("input", () => {
    isDirty = true;
    drawGutters();
  });
  text.addEventListener("scroll", () => {
    panel.querySelector(".gutter").scrollTop = text.scrollTop;
  });
}
document.addEventListener("click", (event) => {
  const place = event.target.closest?.("a[data-line]");
  if (place) {
    event.preventDefault();
    goTo(place);
  }
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s") {
    event.preventDefault();
    editor.querySelector("[data-save]").click();
  }
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.requestConfig?.path?.endsWith("/draft/save/")) isDirty = false;
  drawGutters();
});
editor.addEventListener("submit", () => {
  isDirty = false;
});
window.addEventListener("beforeunload", (event) => {
  if (isDirty) event.preventDefault();
});
show(tabs[0].dataset.file);
