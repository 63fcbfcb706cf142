// Text from elsewhere on one line of ours, counted in code points, as the Python library does it.

const SPACES = "\\t\\n\\v\\f\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const EDGES = new RegExp(`^[${SPACES}]+|[${SPACES}]+$`, "gu");
// Line ends, control characters, and what turns the direction of the text around it.
const BREAKS = new RegExp(`[${SPACES}\\x00-\\x1f\\x7f-\\x9f\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]+`, "gu");
const HALVES = /[\ud800-\udfff]/gu;
const VARIABLE = /\$(?:\{([A-Z][A-Z0-9_]{0,63})\}|([A-Z][A-Z0-9_]{0,63})(?![\p{L}\p{N}_]))/gu;

export function strip(text: string): string {
  return text.replace(EDGES, "");
}

/** How many code points. */
export function size(text: string): number {
  return [...text].length;
}

/** The first code points. */
export function first(text: string, most: number): string {
  return [...text].slice(0, most).join("");
}

/** `text` without line ends and control characters, and with `…` where it was longer than `most`. */
export function oneLine(text: string, most = 200): string {
  const line = strip(first(text, most * 4).replace(HALVES, "\ufffd").replace(BREAKS, " "));
  return size(line) <= most ? line : `${first(line, most - 1).replace(new RegExp(`[${SPACES}]+$`, "u"), "")}…`;
}

/** `$NAME` and `${NAME}` replaced once; a name that was not given, or is empty, stays as it is written. */
export function substitute(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (found: string, braced?: string, plain?: string) => {
    const name = (braced ?? plain) as string;
    return (Object.hasOwn(values, name) && values[name]) || found;
  });
}

/** Two digits behind the point; a tie goes to the even one, as in Python. */
export function twoDigits(value: number): string {
  const isTie = Number.isInteger(value * 8) && !Number.isInteger(value * 4);
  const below = Math.floor(value * 100);
  return isTie ? ((below % 2 === 0 ? below : below + 1) / 100).toFixed(2) : value.toFixed(2);
}

export function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

export async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The name under which a model sees a tool: at most 64 characters. */
export async function wireName(capabilityId: string, tool: string): Promise<string> {
  const name = `${capabilityId}__${tool}`;
  return name.length <= 64 ? name : `${name.slice(0, 55)}_${(await sha256(name)).slice(0, 8)}`;
}
