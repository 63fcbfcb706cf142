// On the pages that show a draft: that this browser has changes of it that were never saved, as the editor keeps them.
(() => {
  function read(key) {
    try {
      const copy = JSON.parse(localStorage.getItem(key));
      return Number.isFinite(copy?.at) && copy.texts && Object.keys(copy.texts).length ? copy : null;
    } catch {
      return null;
    }
  }

  // What was sent when the editor was left has arrived where the draft has moved on since.
  const isOpen = (copy, version) => !(copy.isSent && copy.basedOn !== version);

  async function newest({ user, capability, version }) {
    const prefix = `unsaved/${user}/${capability}/`;
    // A copy whose editor is open in another tab is not news: that tab says so itself.
    const held = navigator.locks ? new Set((await navigator.locks.query()).held.map((lock) => lock.name)) : new Set();
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix) && !held.has(key));
    return keys.map(read).filter((copy) => copy && isOpen(copy, version)).sort((one, other) => other.at - one.at)[0];
  }

  // A save that the editor sent as it was left may arrive after this page was made: the page is asked again, and where the
  // draft has moved on it is loaded with what was saved.
  const ARRIVES_MS = [400, 1200, 2500];
  const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

  async function hasArrived(copy, { user, capability }) {
    if (!copy.isSent || Date.now() - copy.at > 10000) return false;
    for (const ms of ARRIVES_MS) {
      await pause(ms);
      const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
      const now = page.querySelector("#unsaved")?.dataset;
      if (now?.user === user && now.capability === capability && now.version !== copy.basedOn) return true;
    }
    return false;
  }

  async function show(hint) {
    const copy = await newest(hint.dataset);
    if (!copy) return;
    if (await hasArrived(copy, hint.dataset)) {
      location.reload();
      return;
    }
    const parts = { year: "numeric", month: "short", day: "numeric", hour: "numeric", minute: "2-digit", timeZoneName: "short" };
    hint.querySelector("[data-when]").textContent = new Date(copy.at).toLocaleString(document.documentElement.lang || [], parts);
    hint.querySelector("[data-files]").textContent = Object.keys(copy.texts).join(", ");
    hint.hidden = false;
  }

  htmx.onLoad((part) => {
    const hint = part.querySelector("#unsaved");
    // Where storage is shut off there are no copies.
    if (hint) show(hint).catch(() => {});
  });
})();
