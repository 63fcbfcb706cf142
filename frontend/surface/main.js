// The inside of the preview's frame: the official renderer draws one form, and what it does is told to the page around.
// The frame is a sandbox with an origin of its own: it reaches neither the page nor the server.
import { MessageProcessor } from "@a2ui/web_core/v0_9";
import { basicCatalog, Context } from "@a2ui/lit/v0_9";
import { ContextProvider } from "@lit/context";

const tell = (message) => parent.postMessage(message, "*");

// Markdown stays as it is written: nothing in a text becomes an element.
const asText = async (text) => {
  const span = document.createElement("span");
  span.textContent = text;
  return span.outerHTML;
};

// A row of fields that does not fit, as on a phone, goes on below: the renderer would break its labels letter by letter.
const Row = customElements.get("a2ui-basic-row");
Row.styles = [
  Row.styles,
  {
    cssText: `
      @media (max-width: 32rem) {
        :host { flex-wrap: wrap; overflow-wrap: break-word; }
        :host > :is(a2ui-basic-textfield, a2ui-datetimeinput) { min-width: min(9rem, 100%); }
        :host > :is(a2ui-choicepicker, a2ui-checkbox) { white-space: nowrap; }
      }
    `,
  },
];

// What browsers draw buttons in is not the typeface of the form, and one without a border stands on the line of the others.
const Button = customElements.get("a2ui-basic-button");
Button.styles = [
  Button.styles,
  { cssText: ":host button { font-family: inherit; } .a2ui-button.borderless { padding: 0.5rem 1rem; }" },
];

// The label of a choice is in bold, not what can be chosen; its boxes stand on the line of the fields.
const ChoicePicker = customElements.get("a2ui-choicepicker");
ChoicePicker.styles = [
  ChoicePicker.styles,
  { cssText: ".a2ui-option-label { font-weight: normal; } .a2ui-option-input { margin-inline-start: 0; }" },
];

// Where the form is a card itself, the frame is that card (preview.css); cards within it keep their border.
const Card = customElements.get("a2ui-card");
Card.styles = [
  Card.styles,
  { cssText: ".a2ui-card > * { --a2ui-card-border: initial; --a2ui-card-box-shadow: initial; --a2ui-card-padding: initial; --a2ui-card-margin: initial; }" },
];
const isCard = (messages) => messages.some(({ updateComponents }) =>
  updateComponents?.components.some(({ id, component }) => id === "root" && component === "Card"));

function render(messages) {
  document.documentElement.toggleAttribute("data-is-card", isCard(messages));
  new ContextProvider(document.body, { context: Context.markdown, initialValue: asText });
  const surface = document.createElement("a2ui-surface");
  const processor = new MessageProcessor([basicCatalog], (action) => {
    tell({ type: "action", name: action.name, context: JSON.parse(JSON.stringify(action.context ?? {})) });
  });
  processor.onSurfaceCreated((made) => {
    surface.surface = made;
  });
  document.body.replaceChildren(surface);
  try {
    processor.processMessages(messages);
  } catch (error) {
    tell({ type: "failed", message: String(error?.message ?? error) });
  }
  new ResizeObserver(() => tell({ type: "size", height: document.body.scrollHeight + 2 })).observe(document.body);
}

// Another theme is other colors: what is typed stays.
function paint(theme) {
  document.documentElement.dataset.theme = theme;
  document.documentElement.className = `a2ui-${theme}`;
}

addEventListener("message", (event) => {
  if (event.source !== parent) return;
  if (event.data?.type === "render") render(event.data.messages);
  if (["light", "dark"].includes(event.data?.theme)) paint(event.data.theme);
});
addEventListener("DOMContentLoaded", () => tell({ type: "ready" }));
