// The digest of a bundle: one name for one content, recomputed from a response (schemas/README.md, RFC 8785).
import { ResponseRejected } from "./errors.js";
import type { components } from "./schema.js";
import { sha256 } from "./text.js";

type Bundle = components["schemas"]["SkillBundle"];
type Parts = Pick<Bundle, "capability" | "skill_doc" | "tools" | "ui_schemas">;

/**
 * Canonical JSON of a value that JSON has. Numbers and strings are written as ECMAScript writes them, which is what
 * RFC 8785 asks for, and keys are in the order of their UTF-16 code units, which is that of `sort`.
 * Throws a `TypeError` for what JSON cannot represent: half a character, a number that is not finite, undefined.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const record = value as Record<string, unknown>;
    const pairs = Object.keys(record).sort().map((key) => `${canonicalJson(key)}:${canonicalJson(record[key])}`);
    return `{${pairs.join(",")}}`;
  }
  if (typeof value === "string" && /[\ud800-\udfff]/u.test(value)) throw new TypeError("A text holds half a character");
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("A number is not finite");
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError("JSON has no such value");
  return text;
}

/** `sha256:` and the hex SHA-256 of the canonical JSON of the four parts, as `capability_skill_load` returns them. */
export async function bundleDigest({ capability, skill_doc, tools, ui_schemas }: Parts): Promise<string> {
  return `sha256:${await sha256(canonicalJson({ capability, skill_doc, tools, ui_schemas }))}`;
}

/** Throws a `ResponseRejected` where a bundle is not what was asked for, or not what its digest names. */
export async function checkBundle(bundle: Bundle, capabilityId: string, pinned?: string): Promise<void> {
  if (bundle.capability_id !== capabilityId) {
    throw new ResponseRejected("ANSWER_REFUSED", "The registry sent another capability than the one that was asked for");
  }
  const computed = await bundleDigest(bundle).catch((error: unknown) => {
    if (error instanceof TypeError || error instanceof RangeError) return "";
    throw error;
  });
  if (bundle.digest !== computed || (pinned !== undefined && pinned !== computed)) {
    throw new ResponseRejected("DIGEST_MISMATCH", `The content of '${capabilityId}' is not what its digest names`);
  }
}
