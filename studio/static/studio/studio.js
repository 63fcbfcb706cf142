// What every page has: the theme switch.
const toggle = document.querySelector("[data-theme-toggle]");
if (toggle) {
  toggle.hidden = false;
  toggle.addEventListener("click", () => {
    const next = document.documentElement.dataset.bsTheme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", next);
    } catch {
      document.documentElement.dataset.bsTheme = next;
    }
    window.studioTheme.apply();
  });
}
