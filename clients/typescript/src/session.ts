// One conversation: what a message may be about, what is loaded and for how long, and the prompt of the turn.
import { StudioError } from "./errors.js";
import type { CallOptions, MatchAnswer, RegistryList, SkillBundle } from "./index.js";
import { type Prompt, renderPrompt } from "./prompt.js";
import { checkReadiness, type Environment, type Readiness, userMessage } from "./readiness.js";
import { oneLine, wireName } from "./text.js";

export type Entry = RegistryList["capabilities"][number];
/** Where capabilities come from; a `Registry` is one. */
export interface Source {
  list(query?: Record<string, never>, options?: CallOptions): Promise<Entry[]>;
  load(capabilityId: string, pin?: { digest?: string }, options?: CallOptions): Promise<SkillBundle>;
  match(message: string, more?: Record<string, never>, options?: CallOptions): Promise<MatchAnswer>;
}
export interface SessionOptions {
  /** What is there on this computer; left out, all counts as ready. */
  environment?: Environment;
  /** For how many turns a skill stays after its last use; its own `max_turns` takes precedence. */
  ttlTurns?: number;
  activeMax?: number;
  charactersMax?: number;
  hintsMax?: number;
}
export interface Hint {
  capabilityId: string;
  /** What the prompt says of it. */
  line: string;
}
export interface Turn {
  number: number;
  hints: Hint[];
  /** What was loaded and not used for its number of turns. */
  expired: string[];
}
interface Active {
  bundle: SkillBundle;
  lastTurn: number;
  order: number;
  given: string;
}

/** The ids that a response of `capability_match` hints: those in `needed` first, then by priority, score and id. */
export function hintsFromMatch(answer: MatchAnswer, entries: readonly Entry[]): string[] {
  if (answer.decision !== "match" && answer.decision !== "ambiguous") return [];
  // What the user alone starts is not hinted.
  const open = entries.filter((entry) => entry.disable_model_invocation !== true);
  const known = new Map(open.map((entry) => [entry.capability_id, entry]));
  const needed = list(answer.needed).filter((each) => known.has(each as string)) as string[];
  const scores = new Map<string, number>();
  for (const row of list(answer.matches) as MatchAnswer["matches"]) {
    if (row === null || typeof row !== "object" || row.below_threshold === true || !known.has(row.capability_id)) continue;
    const isScore = typeof row.score === "number" && row.score >= 0 && row.score <= 1;
    scores.set(row.capability_id, isScore ? row.score : 0);
  }
  for (const name of needed) if (!scores.has(name)) scores.set(name, 0);
  const rank = (name: string) => [needed.includes(name) ? 0 : 1, -(known.get(name)?.priority ?? 0), -(scores.get(name) ?? 0)];
  return [...scores.keys()].sort((one, other) => {
    const [a, b] = [rank(one), rank(other)];
    const place = a.findIndex((value, index) => value !== b[index]);
    return place < 0 ? (one < other ? -1 : 1) : (a[place] as number) - (b[place] as number);
  });
}

/** A conversation of one user. It decides nothing for the model; approvals and arguments are the host's to check. */
export class Session {
  number = 0;
  private entries: Entry[] | undefined;
  private hints: Hint[] = [];
  private readonly active = new Map<string, Active>();
  private readonly pins = new Map<string, SkillBundle>();
  private order = 0;

  constructor(
    private readonly source: Source,
    private readonly options: SessionOptions = {},
  ) {}

  /** What there is, read once; `again` reads it anew. */
  async list(again = false, options: CallOptions = {}): Promise<Entry[]> {
    if (this.entries === undefined || again) this.entries = await this.source.list({}, options);
    return this.entries;
  }

  /** The user says something: what fits is hinted, what was not used for its turns goes. */
  async turn(message: string, options: CallOptions = {}): Promise<Turn> {
    this.number += 1;
    const entries = await this.list(false, options);
    const answer = message.trim() ? await this.source.match(message, {}, options) : undefined;
    const found = answer ? hintsFromMatch(answer, entries) : [];
    this.hints = [];
    for (const name of found) {
      const held = this.active.get(name);
      if (held) this.use(held);
      else this.hint(entries.find((entry) => entry.capability_id === name) as Entry, answer as MatchAnswer);
    }
    this.hints = this.hints.slice(0, this.options.hintsMax ?? 3);
    const expired = [...this.active.values()].filter((each) => this.number - each.lastTurn > this.ttl(each.bundle));
    for (const each of expired) this.active.delete(each.bundle.capability_id);
    return { number: this.number, hints: [...this.hints], expired: expired.map((each) => each.bundle.capability_id) };
  }

  /** Make a capability active, at the release of this session's first load of it. Throws a `StudioError`. */
  async load(capabilityId: string, given = "", options: CallOptions = {}): Promise<SkillBundle> {
    const bundle = this.pins.get(capabilityId) ?? (await this.source.load(capabilityId, {}, options));
    if (bundle.capability_id !== capabilityId) {
      throw new StudioError(0, { error: { code: "RESPONSE_REJECTED", message: "The registry sent another capability" } });
    }
    this.pins.set(capabilityId, bundle);
    const held = { bundle, lastTurn: this.number, order: 0, given };
    this.active.set(capabilityId, held);
    this.use(held);
    this.hints = this.hints.filter((each) => each.capabilityId !== capabilityId);
    for (const each of this.loaded().slice(this.options.activeMax ?? 4)) this.active.delete(each.capability_id);
    return bundle;
  }

  unload(capabilityId: string): boolean {
    return this.active.delete(capabilityId);
  }

  /** The active bundles, the most recent first. */
  loaded(): SkillBundle[] {
    return [...this.active.values()].sort((one, other) => other.order - one.order).map((each) => each.bundle);
  }

  /** Of each active bundle. */
  readiness(): Record<string, Readiness> {
    const { environment } = this.options;
    if (environment === undefined) return {};
    return Object.fromEntries(
      this.loaded().map((each) => [each.capability_id, checkReadiness(each.capability, environment)]),
    );
  }

  /** What the model reads in this turn. */
  async prompt(): Promise<Prompt> {
    const given = Object.fromEntries([...this.active].map(([name, each]) => [name, each.given]));
    const { charactersMax } = this.options;
    return renderPrompt(this.loaded(), {
      readiness: this.readiness(),
      arguments: given,
      hints: this.hints.map((each) => each.line),
      ...(charactersMax === undefined ? {} : { charactersMax }),
    });
  }

  /** The tools of what stands in the prompt, by the name under which the model calls them. */
  async tools(): Promise<Record<string, SkillBundle["tools"][number]>> {
    const { included } = await this.prompt();
    const found: Record<string, SkillBundle["tools"][number]> = {};
    for (const bundle of this.loaded().filter((each) => included.includes(each.capability_id))) {
      for (const tool of bundle.tools) found[await wireName(bundle.capability_id, tool.name)] = tool;
    }
    return found;
  }

  private use(held: Active): void {
    this.order += 1;
    held.order = this.order;
    held.lastTurn = this.number;
  }

  private ttl(bundle: SkillBundle): number {
    return bundle.capability.max_turns || (this.options.ttlTurns ?? 4);
  }

  private hint(entry: Entry, answer: MatchAnswer): void {
    const judged = this.options.environment ? checkReadiness(entry, this.options.environment) : undefined;
    if (judged?.status === "UNAVAILABLE") return;
    const instead = entry.replaced_by ? `, use ${oneLine(entry.replaced_by, 64)} instead` : "";
    const deprecated = entry.status === "deprecated" ? ` [deprecated${instead}]` : "";
    const missing = judged && judged.status !== "READY" ? ` [${judged.status}: ${oneLine(userMessage(judged))}]` : "";
    const row = list(answer.matches).find((each) => (each as Entry | null)?.capability_id === entry.capability_id);
    const hit = list((row as MatchAnswer["matches"][number] | undefined)?.matched_triggers)[0] as { trigger?: unknown };
    const led = typeof hit?.trigger === "string" ? ` (because of "${oneLine(hit.trigger, 80)}")` : "";
    const named = `${entry.capability_id} (${oneLine(entry.name, 80)}): ${oneLine(entry.description)}`;
    this.hints.push({ capabilityId: entry.capability_id, line: named + led + deprecated + missing });
  }
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
