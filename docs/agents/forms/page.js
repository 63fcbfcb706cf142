// Draws the form that the server names, and tells the server what the user did in it.
import { MessageProcessor } from "@a2ui/web_core/v0_9";
import { basicCatalog } from "@a2ui/lit/v0_9";

const said = document.getElementById("said");
const approve = document.getElementById("approve");

async function ask(address, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await (await fetch(address, options)).json();
  said.textContent = answer.said ?? "";
  approve.hidden = !answer.call_id;
  approve.onclick = () => ask("approve", { call_id: answer.call_id });
  return answer;
}

const surface = document.createElement("a2ui-surface");
const processor = new MessageProcessor([basicCatalog], ({ name, context }) => ask("action", { name, context }));
processor.onSurfaceCreated((made) => {
  surface.surface = made;
});
document.getElementById("form").append(surface);
processor.processMessages((await ask("form")).messages);
