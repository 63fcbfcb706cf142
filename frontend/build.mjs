// Makes the two committed scripts. `npm ci && npm run build`; tests hold the stamp against these sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

const OUT = "../studio/static/studio/vendor";
const SOURCES = ["build.mjs", "package.json", "package-lock.json", ...["editor", "surface"].flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith(".js")).map((name) => `${folder}/${name}`))].sort();

const hash = createHash("sha256");
for (const name of SOURCES) hash.update(`${name}\0`).update(readFileSync(name)).update("\0");
const stamp = hash.digest("hex");

const packages = new Set();
for (const [entry, file] of [["editor/main.js", "editor.js"], ["surface/main.js", "a2ui-surface.js"]]) {
  const made = await build({
    entryPoints: [entry], outfile: join(OUT, file), bundle: true, format: "iife", minify: true, target: "es2022",
    legalComments: "none", metafile: true, charset: "utf8",
    banner: { js: `/* Made from frontend/${entry}, sources sha256:${stamp}; notices in NOTICES.txt. */` },
  });
  for (const input of Object.keys(made.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
}

const notices = [...packages].sort().map((name) => {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), "utf8").trim() : `Licensed under ${license}.`;
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(join(OUT, "NOTICES.txt"), `What editor.js and a2ui-surface.js hold besides our own code.\n\n${notices.join(`\n${"-".repeat(78)}\n\n`)}`);
