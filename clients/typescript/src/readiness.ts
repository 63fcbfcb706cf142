// Can a capability work in an environment, and if not, what is missing and how is that fixed?
import { oneLine } from "./text.js";

const KINDS = ["bins", "python", "apps", "env", "permissions", "mcp_servers", "skills"] as const;
export type Kind = (typeof KINDS)[number];
export type System = "darwin" | "win32" | "linux";
/** What is there, by its names; what is left out is empty, `mcp_servers` and `skills` that are left out are not known. */
export type Environment = { os: System } & Partial<Record<Kind, readonly string[]>>;
export type Status = "READY" | "NEED_SETUP" | "NEED_AUTH" | "UNAVAILABLE";
export interface Missing {
  kind: Kind;
  name: string;
  fix: string;
}
export interface Readiness {
  status: Status;
  level: string;
  missing: Missing[];
  reason: string;
}

const SYSTEMS: Record<string, string> = { darwin: "macOS", win32: "Windows", linux: "Linux" };
const WHAT: Record<Kind, string> = {
  bins: "program",
  python: "Python package",
  apps: "app",
  env: "environment variable",
  permissions: "permission",
  mcp_servers: "MCP server",
  skills: "skill",
};
// What only the host program knows: where it does not say, nothing is missing.
const TOLD: readonly Kind[] = ["mcp_servers", "skills"];
const INSTALLERS: Record<System, string> = {
  darwin: "such as with brew",
  win32: "such as with winget",
  linux: "such as with apt or dnf",
};
const SETTINGS: Record<System, string> = {
  darwin: "System Settings, Privacy & Security",
  win32: "Settings, Privacy & security",
  linux: "in the host program",
};
const FIXES: Record<Kind, (name: string, os: System) => string> = {
  bins: (name, os) => `install ${name} so that it is found on the search path (${INSTALLERS[os]})`,
  python: (name) => `python -m pip install ${name}`,
  apps: (name) => `install the app ${name}`,
  env: (name) => `set the environment variable ${name} for the agent, and start it again`,
  permissions: (name, os) => `give the agent the permission ${name} (${SETTINGS[os]})`,
  mcp_servers: (name) => `connect the agent to the MCP server ${name}`,
  skills: (name) => `give the agent the skill ${name}`,
};

/** Judge a bundle's `capability`, or an entry of the list. Setting up comes before a key. */
export function checkReadiness(capability: object, environment: Environment): Readiness {
  const values = capability as Record<string, unknown>;
  const level = levelOn(values["dependency_level"], environment.os);
  const os = texts(values["os"]);
  const systems = os.length > 0 ? os : ["common"];
  if (!systems.includes("common") && !systems.includes(environment.os)) {
    const there = systems.slice(0, 4).map((each) => SYSTEMS[each] ?? oneLine(each, 20));
    const reason = `Works on ${there.join(", ")}, not on ${SYSTEMS[environment.os]}.`;
    return { status: "UNAVAILABLE", level, missing: [], reason };
  }
  const named = record(values["dependencies"]);
  const missing = KINDS.flatMap((kind) =>
    texts(named[kind])
      .filter((name) => !(environment[kind] ?? (TOLD.includes(kind) ? [name] : [])).includes(name))
      .map((name) => ({ kind, name: oneLine(name, 80), fix: FIXES[kind](oneLine(name, 80), environment.os) })),
  );
  if (missing.length === 0) return { status: "READY", level, missing, reason: "" };
  const needsSetup = missing.some((each) => each.kind !== "env" && each.kind !== "permissions");
  return { status: needsSetup ? "NEED_SETUP" : "NEED_AUTH", level, missing, reason: "" };
}

/** What to do about it, on one line; empty where it is ready. */
export function userMessage(readiness: Readiness): string {
  if (readiness.status === "UNAVAILABLE") return readiness.reason;
  const fixes = readiness.missing.map((each) => `${WHAT[each.kind]} ${each.name}: ${each.fix}`).join("; ");
  return fixes ? `Missing ${fixes}.` : "";
}

/** The MCP servers and skills that it names, such as `MCP servers: github; skills: toys, cages`; empty without. */
export function describeNeeds(capability: object): string {
  const named = record((capability as Record<string, unknown>)["dependencies"]);
  const found = [["MCP servers", "mcp_servers"], ["skills", "skills"]].map(([words, key]) => {
    const names = texts(named[key as string]).map((name) => oneLine(name, 80));
    return names.length > 0 ? `${words}: ${names.join(", ")}` : "";
  });
  return found.filter(Boolean).join("; ");
}

function levelOn(level: unknown, os: string): string {
  const named = record(level);
  const found = typeof level === "object" && level !== null ? (named[os] ?? named["common"] ?? "builtin") : level;
  return typeof found === "string" ? found : "builtin";
}

function texts(value: unknown): string[] {
  const found = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  return found.filter((item): item is string => typeof item === "string").slice(0, 100);
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
