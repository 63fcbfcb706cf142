// A chat with a model: what comes next is in view, and a card that waits for a person has the focus.
(() => {
  const next = () => document.querySelector("#conversation [data-next]");
  const isOfChat = (event) => event.target.id === "conversation";
  if (!document.getElementById("conversation")) return;

  function isInView(element) {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  // A card that is higher than the window begins at its top.
  function bring(element, behavior) {
    const isHigh = element.getBoundingClientRect().height > innerHeight / 2;
    element.scrollIntoView({ block: isHigh ? "start" : "nearest", behavior });
  }

  // The heading and not the button: Enter, pressed for something else, approves nothing.
  function focusCard() {
    const heading = document.getElementById("decide");
    const here = document.activeElement;
    if (heading && (!here || here === document.body)) heading.focus({ preventScroll: true });
  }

  // A chat opens at its end, also where it is loaded again. An error is said above the card.
  history.scrollRestoration = "manual";
  addEventListener("load", () => {
    if (!next() || document.querySelector("#conversation [role='alert']")) return;
    bring(next(), "auto");
    focusCard();
  });

  // A person who has scrolled away from what is being written reads something else.
  let isFollowed = true;
  addEventListener("htmx:beforeSwap", (event) => {
    if (isOfChat(event)) isFollowed = Boolean(next()) && isInView(next());
  });
  addEventListener("htmx:afterSettle", (event) => {
    if (!isOfChat(event) || !next()) return;
    const isCard = Boolean(document.getElementById("decide"));
    if (isCard && !matchMedia("(prefers-reduced-motion: reduce)").matches) bring(next(), "smooth");
    else if (isCard || isFollowed) bring(next(), "auto");
    focusCard();
  });
})();
