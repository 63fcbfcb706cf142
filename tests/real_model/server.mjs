// OpenAI's chat completions for one local model, as far as the tests need them: no tools.
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
const sequence = context.getSequence();

const text = (content) => (typeof content === "string" ? content : "");

// A chunk of a stream, with the one choice or the usage.
const chunk = (delta, finish_reason = null) => ({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });

// `say` is given each piece; `signal` ends it, as a client does that goes away.
async function complete(body, say, signal) {
  const system = body.messages.filter(({ role }) => role === "system").map(({ content }) => text(content)).join("\n");
  const said = body.messages.filter(({ role }) => role === "user").map(({ content }) => text(content)).join("\n");
  await sequence.clearHistory();
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: system });
  try {
    const content = await session.prompt(said, { maxTokens: 24, temperature: 0, onTextChunk: say, signal, stopOnAbortSignal: true });
    const prompt_tokens = model.tokenize(system + said).length;
    const completion_tokens = model.tokenize(content).length;
    return { content, usage: { prompt_tokens, completion_tokens } };
  } finally {
    session.dispose();
  }
}

async function answer(body, response) {
  const write = (data) => response.write(`data: ${data}\n\n`);
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const say = (piece) => body.stream && write(JSON.stringify(chunk({ content: piece })));
    response.writeHead(200, { "Content-Type": body.stream ? "text/event-stream" : "application/json" });
    const { content, usage } = await complete(body, say, gone.signal);
    if (!body.stream) {
      response.end(JSON.stringify({ choices: [{ message: { role: "assistant", content } }], usage }));
      return;
    }
    write(JSON.stringify(chunk({}, "stop")));
    if (body.stream_options?.include_usage) write(JSON.stringify({ object: "chat.completion.chunk", choices: [], usage }));
    write("[DONE]");
    response.end();
  } catch (error) {
    response.end(`data: ${JSON.stringify({ error: { message: String(error) } })}\n\n`);
  }
}

// One after another: the model has one sequence.
let last = Promise.resolve();
const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    last = last.then(() => answer(JSON.parse(Buffer.concat(parts)), response));
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
