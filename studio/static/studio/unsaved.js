// On the pages that show a draft: that this browser has changes of it that were never saved, as the editor keeps them.
(() => {
  const hint = document.getElementById("unsaved");
  const prefix = `unsaved/${hint.dataset.user}/${hint.dataset.capability}/`;

  function read(key) {
    try {
      const copy = JSON.parse(localStorage.getItem(key));
      return Number.isFinite(copy?.at) && copy.texts && Object.keys(copy.texts).length ? copy : null;
    } catch {
      return null;
    }
  }

  // What was sent when the editor was left has arrived where the draft has moved on since.
  const isOpen = (copy) => !(copy.isSent && copy.basedOn !== hint.dataset.version);

  async function newest() {
    // A copy whose editor is open in another tab is not news: that tab says so itself.
    const held = navigator.locks ? new Set((await navigator.locks.query()).held.map((lock) => lock.name)) : new Set();
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix) && !held.has(key));
    return keys.map(read).filter((copy) => copy && isOpen(copy)).sort((one, other) => other.at - one.at)[0];
  }

  newest()
    .then((copy) => {
      if (!copy) return;
      const parts = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
      hint.querySelector("[data-when]").textContent = new Date(copy.at).toLocaleString(document.documentElement.lang || [], parts);
      hint.querySelector("[data-files]").textContent = Object.keys(copy.texts).join(", ");
      hint.hidden = false;
    })
    // Storage is shut off: there are no copies.
    .catch(() => {});
})();
