// A link leads to the next page without a page load: its main part takes the place of this one, and what is around it stays.
// A page with scripts of its own is loaded whole, and so is everything where a step of this fails. What the pointer rests on
// is fetched ahead. Without this script links lead where they lead.
(() => {
  const PART = ".app__main";
  // Ahead of a click: what the pointer only passes is left alone, and an old page is asked for again.
  const REST_MS = 65;
  const AHEAD_MS = 5000;
  const WAIT_MS = 15000;
  // What is done before anybody can see it needs no sign.
  const BUSY_AFTER_MS = 200;
  // Pages with scripts of their own, which would be fetched for nothing, and what is no page. Others are seen by their scripts.
  const WHOLE = /^\/(?:api|admin|new-capability|playground)\b|\/(?:edit|download|export)\b/;

  const ahead = new Map();
  let rest = 0;
  let asked = null;
  let shown = location.pathname + location.search;

  const textOf = async (response) => {
    const isPage = response.ok && response.headers.get("Content-Type")?.startsWith("text/html");
    if (!isPage) throw new Error(`No page: ${response.status}`);
    return { url: response.url, text: await response.text() };
  };
  const ask = (address) => fetch(address, { signal: AbortSignal.timeout(WAIT_MS) }).then(textOf);

  function fetchAhead(address) {
    if (ahead.has(address)) return;
    const answer = ask(address);
    // A click finds out; nobody waits for it yet.
    answer.catch(() => {});
    ahead.set(address, answer);
    setTimeout(() => ahead.get(address) === answer && ahead.delete(address), AHEAD_MS);
  }

  const find = (address) => {
    const answer = ahead.get(address) ?? ask(address);
    ahead.delete(address);
    return answer;
  };

  // The link of an event that leads to another page of the Studio.
  function linkOf({ target }) {
    const link = target.closest?.("a[href]");
    if (!link || link.origin !== location.origin || link.target || link.hasAttribute("download") || WHOLE.test(link.pathname)) return null;
    return link.pathname + link.search === shown ? null : link;
  }

  // The address has what was searched for; everything else that was typed comes back by the browser's own memory alone.
  const isChanged = (field) => {
    // A box without a value of its own has "on", which is not its default.
    if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
    if (!field.matches("select")) return field.value !== field.defaultValue;
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  };
  const isEdited = () =>
    [...document.querySelectorAll("main form[method=post] :is(input:not([type=hidden]), textarea, select)")].some(isChanged);

  const frameOf = (page) =>
    [page.documentElement.lang, ...[...page.querySelectorAll("script[src]")].map((script) => script.getAttribute("src"))].join();

  const stylesOf = (page) => [...page.querySelectorAll("head link[rel=stylesheet]")];

  // The styles of the next page are there before it is; those of this one go after it.
  async function loadStyles(next) {
    const here = new Map(stylesOf(document).map((link) => [link.getAttribute("href"), link]));
    const loaded = stylesOf(next).map((link) => {
      const address = link.getAttribute("href");
      if (here.delete(address)) return null;
      const added = document.importNode(link);
      const done = new Promise((resolve, reject) => Object.assign(added, { onload: resolve, onerror: reject }));
      document.head.append(added);
      return done;
    });
    await Promise.all(loaded);
    return () => here.forEach((link) => link.remove());
  }

  function swapFrame(next) {
    document.title = next.title;
    document.body.className = next.body.className;
    document.body.setAttribute("hx-headers", next.body.getAttribute("hx-headers"));
    document.querySelector("#nav .nav").replaceWith(document.importNode(next.querySelector("#nav .nav"), true));
    const nav = document.getElementById("nav");
    if (nav.matches(":popover-open")) nav.hidePopover();
  }

  function swapPart(next) {
    const part = document.importNode(next.querySelector(PART), true);
    document.querySelector(PART).replaceWith(part);
    htmx.process(part);
    htmx.trigger(part, "htmx:load");
    document.getElementById("main").focus({ preventScroll: true });
  }

  // Fails where the page has to be loaded whole; does nothing where another one was asked for meanwhile. With `back` the place
  // in the history is there already.
  async function show(answer, { hash = "", back = null }) {
    const mine = (asked = Symbol("page"));
    const busy = setTimeout(() => document.body.classList.add("is-leaving"), BUSY_AFTER_MS);
    try {
      const { url, text } = await answer;
      const next = new DOMParser().parseFromString(text, "text/html");
      if (!next.querySelector(PART) || frameOf(next) !== frameOf(document)) throw new Error("Another frame");
      const removeOldStyles = await loadStyles(next);
      if (asked !== mine) return;
      if (!back) {
        history.replaceState({ ...history.state, scrolled: scrollY }, "");
        history.pushState({}, "", url.split("#")[0] + hash);
      }
      shown = location.pathname + location.search;
      swapFrame(next);
      swapPart(next);
      removeOldStyles();
      const mark = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
      if (mark) mark.scrollIntoView();
      else scrollTo(0, back?.scrolled ?? 0);
    } catch (error) {
      if (asked === mine) throw error;
    } finally {
      clearTimeout(busy);
      if (asked === mine) document.body.classList.remove("is-leaving");
    }
  }

  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = linkOf(event);
    if (!link || isEdited()) return;
    event.preventDefault();
    const { href, pathname, search, hash } = link;
    show(find(pathname + search), { hash }).catch(() => location.assign(href));
  });

  addEventListener("popstate", ({ state }) => {
    const address = location.pathname + location.search;
    // A fragment of this page, or an address that htmx has written and reads itself.
    if (address === shown || state?.htmx) return;
    show(ask(address), { back: { scrolled: state?.scrolled } }).catch(() => location.reload());
  });
  document.body.addEventListener("htmx:pushedIntoHistory", () => {
    shown = location.pathname + location.search;
  });

  const restOn = (event) => {
    clearTimeout(rest);
    const link = linkOf(event);
    if (!link || navigator.connection?.saveData) return;
    rest = setTimeout(() => fetchAhead(link.pathname + link.search), event.type === "pointerdown" ? 0 : REST_MS);
  };
  for (const kind of ["mouseover", "focusin", "pointerdown"]) document.addEventListener(kind, restOn, { passive: true });
  // What was fetched before something changed may say what was so before.
  document.body.addEventListener("htmx:afterRequest", ({ detail }) => detail.requestConfig.verb !== "get" && ahead.clear());
})();
