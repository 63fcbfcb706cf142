// The vectors of schemas/vectors/ that this package has a function for; VECTORS names the folder if it is elsewhere.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { bundleDigest, canonicalJson, checkReadiness, hintsFromMatch, renderPrompt, wireName } from "../dist/index.js";

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

for (const { name, answer, canonical, digest } of JSON.parse(readFileSync(`${folder}/../digest-vectors.json`, "utf8"))) {
  test(`digest: ${name}`, async () => {
    assert.equal(canonicalJson(answer), canonical);
    assert.equal(await bundleDigest(answer), digest);
  });
}

test("canonical JSON is that of RFC 8785", () => {
  // Its own example (3.2.2 and 3.2.3), and the order of UTF-16 code units.
  const numbers = [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0];
  assert.equal(canonicalJson({ numbers, string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/", literals: [null, true, false] }),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}');
  assert.equal(canonicalJson({ "\ufb33": 1, "\ud83d\ude00": 2, "\u20ac": 3, "1": 4, "\r": 5 }), '{"\\r":5,"1":4,"€":3,"😀":2,"\ufb33":1}');
  for (const odd of ["\ud800", { "\udc00": 1 }, Number.NaN, Number.POSITIVE_INFINITY, undefined, [undefined], () => {}]) {
    assert.throws(() => canonicalJson(odd), TypeError);
  }
});
