// What every page has: the choice of the theme, and a notice when a request failed, so that nobody loses what they typed.
const themes = document.querySelector("[data-themes]");
if (themes) {
  const choices = [...themes.querySelectorAll("button")];
  const press = () => {
    for (const one of choices) one.setAttribute("aria-pressed", String(one.value === window.studioTheme.chosen()));
  };
  themes.hidden = false;
  press();
  themes.addEventListener("click", ({ target }) => {
    if (!choices.includes(target)) return;
    window.studioTheme.choose(target.value);
    press();
  });
}

// A menu that was opened gives way again: Escape or a click beside it closes it.
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest?.("details[data-menu][open]");
  if (!menu) return;
  event.stopPropagation();
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) if (!menu.contains(target)) menu.open = false;
});

// A toast goes by itself, but not while somebody reads it with the pointer or the keyboard on it.
const TOAST_MS = 10000;
function startToast(toast) {
  const close = toast.querySelector("[data-close-toast]");
  const go = () => {
    if (toast.matches(":hover, :focus-within")) setTimeout(go, TOAST_MS);
    else toast.remove();
  };
  close.hidden = false;
  close.addEventListener("click", () => toast.remove());
  setTimeout(go, TOAST_MS);
}

htmx.onLoad((part) => {
  part.querySelectorAll("[data-toast]").forEach(startToast);
  // A page that belongs to the first steps counts as seen, however it was reached.
  const visit = part.querySelector("[data-tour-visit]");
  if (visit) fetch(visit.dataset.tourVisit, { method: "POST", redirect: "manual", headers: JSON.parse(document.body.getAttribute("hx-headers")) });
});

const noticePlace = () => document.getElementById("notice");
const kept = gettext("What you typed is still here.");
const WORDS = {
  0: interpolate(gettext("Can't reach the server. %(kept)s Try again when it is back."), { kept }, true),
  400: interpolate(gettext("The server could not take this; the four files have at most 2 MiB together. %(kept)s"), { kept }, true),
  401: interpolate(gettext("You've been signed out. %(kept)s"), { kept }, true),
  403: interpolate(gettext("The server refused this: what you may do has changed. %(kept)s"), { kept }, true),
  404: interpolate(gettext("This is no longer on the server. %(kept)s"), { kept }, true),
  413: interpolate(gettext("This is too large: the four files have at most 2 MiB together. %(kept)s"), { kept }, true),
};
let renewal = null;
let wasRetried = false;

// What a refusal says of itself; empty where it is of another kind.
const reasonIn = (page) => page.getElementById("why")?.textContent.trim() ?? "";
const pageOf = (html) => new DOMParser().parseFromString(html, "text/html");

function tell(status, { path }, why = "") {
  document.dispatchEvent(new Event("studio:failed"));
  const usual = WORDS[status] ?? interpolate(gettext("Something went wrong on the server. %(kept)s Try again."), { kept }, true);
  const words = why ? `${why} ${kept}` : usual;
  const notice = noticePlace();
  if (!notice.hidden && notice.dataset.status === String(status)) return;
  notice.dataset.status = String(status);
  notice.dataset.path = path;
  notice.textContent = words;
  if (status === 401) {
    const link = document.createElement("a");
    link.href = document.body.dataset.signIn;
    link.target = "_blank";
    link.rel = "noopener";
    link.textContent = gettext("Sign in in another tab");
    const [before, after] = gettext("{link}, then save again.").split("{link}");
    notice.append(` ${before}`, link, after ?? "");
  }
  notice.hidden = false;
}

// Whoever signs in gets a new CSRF token: a page that was open before must fetch it, or it could never save again.
// Answers the status that this comes to, 200 where the token is new and 401 where nobody is signed in, and why.
async function renewToken() {
  const response = await fetch(location.href);
  if (new URL(response.url).pathname === new URL(document.body.dataset.signIn, location.href).pathname) return [401, ""];
  const fresh = pageOf(await response.text());
  const token = fresh.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!response.ok || !token) return [403, reasonIn(fresh)];
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  return [200, ""];
}

document.body.addEventListener("htmx:responseError", async (event) => {
  const { xhr, elt, requestConfig } = event.detail;
  // 409 is not a failure: the editor shows both texts.
  if (xhr.status === 409) return;
  if (xhr.status === 503) return tell(503, requestConfig, reasonIn(pageOf(xhr.responseText)));
  if (xhr.status !== 403) return tell(xhr.status, requestConfig);
  const isFirst = !wasRetried;
  wasRetried = true;
  // A check and a save may be refused at one moment: both learn from one renewal why.
  if (isFirst) renewal = renewToken().catch(() => [0, ""]);
  const [status, why] = await renewal;
  if (status !== 200) {
    // Who signs in meanwhile and tries again gets a new one.
    wasRetried = false;
    return tell(status, requestConfig, why);
  }
  if (!isFirst) return tell(403, requestConfig, reasonIn(pageOf(xhr.responseText)));
  if (elt.matches("button")) elt.click();
  else htmx.trigger(elt, "input");
});
document.body.addEventListener("htmx:sendError", (event) => tell(0, event.detail.requestConfig));
document.body.addEventListener("htmx:timeout", (event) => tell(0, event.detail.requestConfig));
document.body.addEventListener("htmx:afterRequest", (event) => {
  const { successful, elt, requestConfig } = event.detail;
  if (!successful) return;
  wasRetried = false;
  const notice = noticePlace();
  // A check that went well does not undo a save that did not.
  if (elt.matches("[data-save]") || notice.dataset.path === requestConfig.path) notice.hidden = true;
});
