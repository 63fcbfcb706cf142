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

function render(messages) {
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

addEventListener("message", (event) => {
  if (event.source === parent && event.data?.type === "render") render(event.data.messages);
});
addEventListener("DOMContentLoaded", () => tell({ type: "ready" }));
