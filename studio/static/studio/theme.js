// Runs before the page is drawn, so that it never flashes in the other theme.
(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";
  try {
    chosen = localStorage.getItem("theme") ?? "";
  } catch {
    // Storage can be shut off; then the system's theme holds.
  }
  const show = () => {
    document.documentElement.dataset.theme = chosen || (system.matches ? "dark" : "light");
  };
  const choose = (theme) => {
    chosen = theme;
    try {
      if (theme) localStorage.setItem("theme", theme);
      else localStorage.removeItem("theme");
    } catch {
      // Then the choice holds for this page.
    }
    show();
  };
  show();
  system.addEventListener("change", show);
  window.studioTheme = { choose, chosen: () => chosen };
})();
