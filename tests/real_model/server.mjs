// OpenAI's chat completions for one local model, as far as the tests need them: no tools, no streaming.
// `node server.mjs MODEL.gguf` in a folder with node-llama-cpp; prints its address once the model is loaded.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const { getLlama, LlamaChatSession } = await import(pathToFileURL(require.resolve("node-llama-cpp")).href);

const llama = await getLlama({ build: "never", gpu: false, logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 8192, threads: 2 });

const text = (content) => (typeof content === "string" ? content : "");

async function complete(body) {
  const system = body.messages.filter(({ role }) => role === "system").map(({ content }) => text(content)).join("\n");
  const said = body.messages.filter(({ role }) => role === "user").map(({ content }) => text(content)).join("\n");
  const sequence = context.getSequence();
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: system });
  try {
    const content = await session.prompt(said, { maxTokens: 24, temperature: 0 });
    const prompt_tokens = model.tokenize(system + said).length;
    const completion_tokens = model.tokenize(content).length;
    return { choices: [{ message: { role: "assistant", content } }], usage: { prompt_tokens, completion_tokens } };
  } finally {
    session.dispose();
    sequence.dispose();
  }
}

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", async () => {
    try {
      const found = await complete(JSON.parse(Buffer.concat(parts)));
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(found));
    } catch (error) {
      response.writeHead(500, { "Content-Type": "application/json" }).end(JSON.stringify({ error: String(error) }));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
