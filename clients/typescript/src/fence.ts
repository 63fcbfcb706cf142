// The lines between which a skill's text stands in a prompt, with a marker that no text of the prompt contains.
import type { components } from "./schema.js";
import { sha256 } from "./text.js";

type Bundle = components["schemas"]["SkillBundle"];

/** The text between two lines that it cannot write itself; `user` encloses what the user said of a skill. */
export function fence(capabilityId: string, text: string, marker: string, tag: "skill" | "user" = "skill"): string {
  const name = `${capabilityId} ${marker}`;
  return `<${tag} ${name}>\n${text}\n</${tag} ${name}>`;
}

/**
 * Sixteen hex digits that stand in none of these, upper case or lower; the same ones for the same input.
 *
 * They follow from the preamble, the bundles with the digests of their files, and of each bundle what a model may read:
 * whoever wrote one of them does not know the rest. What stands beside these changes from turn to turn.
 */
export async function chooseMarker(
  bundles: readonly Bundle[],
  texts: readonly string[],
  preamble: string,
  beside: readonly string[],
): Promise<string> {
  const parts = [preamble];
  for (const [index, bundle] of bundles.entries()) {
    const files = (bundle.files ?? []).map((each) => `${each.path} ${each.digest}`);
    parts.push(`${bundle.capability_id} ${bundle.digest}`, ...files, texts[index] as string);
  }
  const seed = await sha256(parts.join("\n"));
  const written = [...parts, ...strings(bundles.map(authored)), ...beside].join("\n").toLowerCase();
  for (let counter = 0; ; counter += 1) {
    const marker = (await sha256(`${seed}/${counter}`)).slice(0, 16);
    if (!written.includes(marker)) return marker;
  }
}

function authored(bundle: Bundle): unknown[] {
  const { skill_doc, capability, tools, ui_schemas, withheld_tools, replaced_by } = bundle;
  return [skill_doc, capability, tools, ui_schemas, withheld_tools, replaced_by];
}

/** Every string in a JSON value, keys too. Without recursion: how deep it is, is the author's choice. */
function strings(value: unknown): string[] {
  const left: unknown[] = [value];
  const found: string[] = [];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each === "string") found.push(each);
    else if (Array.isArray(each)) for (const one of each) left.push(one);
    else if (typeof each === "object" && each !== null) for (const pair of Object.entries(each)) left.push(...pair);
  }
  return found;
}
