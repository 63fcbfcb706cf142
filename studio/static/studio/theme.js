// Runs before the page is drawn, so that it never flashes in the other theme.
(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = (given) => {
    let chosen = given ?? null;
    try {
      chosen ??= localStorage.getItem("theme");
    } catch {
      // Storage can be shut off; then the system's theme holds.
    }
    document.documentElement.dataset.bsTheme = chosen || (system.matches ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", () => apply());
  window.studioTheme = { apply };
})();
