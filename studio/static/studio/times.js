// Times in the reader's zone. Without this script they stand in UTC, and say so.
(() => {
  const language = document.documentElement.lang || undefined;
  const full = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" });

  function show(one) {
    const moment = new Date(one.dateTime);
    // A day without an hour is a day of UTC: it has no other zone.
    if (Number.isNaN(moment.getTime()) || !one.dateTime.includes("T")) return;
    one.title = exact.format(moment);
    if (one.textContent.trim().endsWith("UTC")) one.textContent = full.format(moment);
  }

  const showAll = (within) => {
    for (const one of within.querySelectorAll("time[datetime]")) show(one);
  };
  showAll(document);
  document.body.addEventListener("htmx:load", ({ target }) => showAll(target));
})();
