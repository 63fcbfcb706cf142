// The vectors of schemas/vectors/ that this package has a function for; VECTORS names the folder if it is elsewhere.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { checkReadiness, hintsFromMatch, renderPrompt, wireName } from "../dist/index.js";

const folder = process.env.VECTORS ?? new URL("../../../schemas/vectors/", import.meta.url).pathname;
const functions = {
  wire_names: ({ capability_id, tool }) => wireName(capability_id, tool),
  readiness: ({ capability, environment }) => checkReadiness(capability, environment),
  hints: ({ capabilities, match }) => hintsFromMatch(match, capabilities),
  prompts: ({ bundles, environment, arguments: given = {}, characters_max: charactersMax = 16_000, preamble, hints }) => {
    const judged = (each) => [each.capability_id, checkReadiness(each.capability, environment)];
    const readiness = environment ? Object.fromEntries(bundles.map(judged)) : {};
    return renderPrompt(bundles, { readiness, arguments: given, charactersMax, preamble, hints });
  },
};

for (const [kind, run] of Object.entries(functions)) {
  for (const { name, input, expected } of JSON.parse(readFileSync(`${folder}/${kind}.json`, "utf8")).cases) {
    test(`${kind}: ${name}`, async () => assert.deepEqual(await run(input), expected));
  }
}
