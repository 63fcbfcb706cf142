// What lines of the instructions are: who speaks, what is called, what stands before the words.
import { gettext } from "./gettext.js";

const SPEAKERS = { user: "user", customer: "user", agent: "agent", assistant: "agent", tool: "call", call: "call" };
const SAYS = /^(\*\*|__)?(User|Customer|Agent|Assistant|Tool|Call)(?::\1|\1[ \t]*:)[ \t]*/i;
const LEAD = /^\s*(?:(?:[-*+]|\d+[.)])\s+)?(?:(?:\*\*|__)[^*_]+:(?:\*\*|__)\s*)?/;

// {name, role, length} of a line that begins with who speaks; "Tool:" alone is a word of many lists.
export function speakerOf(text) {
  const [whole, bold, name] = SAYS.exec(text) ?? [];
  if (!whole) return null;
  const role = SPEAKERS[name.toLowerCase()];
  return role === "call" && !bold ? null : { name, role, length: whole.length };
}

// The length of what stands before the words of a line: the mark of a list, and who speaks.
export const leadOf = (text) => LEAD.exec(text)[0].length;

// The tool or form that a stretch of code names, with arguments or without.
export const calledIn = (code) => /^\s*([A-Za-z_][\w.-]*)\s*(?:\(|$)/.exec(code)?.[1] ?? "";

const access = (tool) => {
  const { kind, requires_approval: isAsked } = tool.policy ?? {};
  const words = kind === "write" ? gettext("Write") : gettext("Read");
  return { kind: kind === "write" ? "write" : "read", words: isAsked ? [words, gettext("Requires approval")] : [words] };
};
// What a chip, a completion and the card say of a tool or a form.
export function described(facts, name) {
  const tool = facts.toolNamed(name);
  if (tool) return { name, file: "tools.json", about: tool.description ?? "", ...access(tool), tool };
  const form = facts.formNamed(name);
  return form && { name, file: "ui_schemas.json", about: form.title ?? "", kind: "form", words: [gettext("Form")] };
}
