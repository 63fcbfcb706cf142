// A button beside a text that copies it; it shows itself where the browser can.
function startCopying(button) {
  const words = button.textContent;
  let back;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = gettext("Copied");
      clearTimeout(back);
      back = setTimeout(() => {
        button.textContent = words;
      }, 2000);
    } catch {
      // The browser was told not to: the text is chosen, to be copied by hand.
      getSelection().selectAllChildren(text);
    }
  });
}
if (navigator.clipboard) htmx.onLoad((part) => part.querySelectorAll("[data-copy]").forEach(startCopying));
