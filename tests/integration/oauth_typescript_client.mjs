// `client.mjs URL [DOCUMENT]`: prints a link for a person, reads where their browser was led, and prints what it saw as JSON.
import { createInterface } from "node:readline/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { auth, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, document] = process.argv.slice(2);
const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:51998/callback",
  clientMetadataUrl: document,
  clientMetadata: {
    redirect_uris: ["http://127.0.0.1:51998/callback"],
    client_name: "Official SDK",
    grant_types: ["authorization_code", "refresh_token"],
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (link) => { console.log(`Open ${link}`); },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
};

const begin = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider });
const first = begin();
try {
  await new Client({ name: "test", version: "1" }).connect(first);
  throw new Error("it was not asked to sign in");
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const lines = createInterface({ input: process.stdin });
const back = new URL(await lines.question(""));
lines.close();
await first.finishAuth(back.searchParams.get("code"));
const client = new Client({ name: "test", version: "1" });
await client.connect(begin());
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const matched = await client.callTool({
  name: "capability_match",
  arguments: { message: "I just weighed 187.6 lbs" },
});
// The client renews by itself what the server no longer takes.
const before = kept.tokens.access_token;
await auth(provider, { serverUrl: `${url}/mcp` });
await client.callTool({ name: "capability_feedback", arguments: { capability_id: "weights", outcome: "used" } });
console.log(JSON.stringify({
  tools,
  needed: JSON.parse(matched.content[0].text).needed,
  clientId: kept.client.client_id,
  renewed: kept.tokens.access_token !== before,
}));
process.exit(0);
