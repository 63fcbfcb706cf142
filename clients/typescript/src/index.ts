// A typed client: paths, parameters, answers and refusals come from the registry's own OpenAPI document.
import createFetchClient, { type Client, type ClientOptions } from "openapi-fetch";

import type { components, paths } from "./schema.js";

export { type Prompt, type PromptOptions, renderPrompt } from "./prompt.js";
export { checkReadiness, type Environment, type Readiness, userMessage } from "./readiness.js";
export type { components, operations, paths } from "./schema.js";
export { type Entry, type Hint, hintsFromMatch, Session, type SessionOptions, type Source, type Turn } from "./session.js";
export { wireName } from "./text.js";
export type RegistryList = components["schemas"]["RegistryList"];
export type SkillBundle = components["schemas"]["SkillBundle"];
export type MatchAnswer = components["schemas"]["MatchAnswer"];
export type SearchResults = components["schemas"]["SearchResults"];

/** What a refused call holds: a stable `code`, words for people, and whatever else the answer said. */
export class StudioError extends Error {
  readonly code: string;
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(status: number, body: unknown) {
    const error = asRecord(asRecord(body)["error"]);
    super(typeof error["message"] === "string" ? error["message"] : `The registry answered ${status}`);
    this.name = "StudioError";
    this.code = typeof error["code"] === "string" ? error["code"] : "UNKNOWN";
    this.status = status;
    this.data = error;
  }

  /** The ids that there are, where a capability was not found. */
  get availableCapabilities(): string[] {
    const ids = this.data["available_capabilities"];
    return Array.isArray(ids) ? ids.filter((id): id is string => typeof id === "string") : [];
  }
}

export interface StudioOptions extends ClientOptions {
  /** The registry's address, such as `https://studio.example.com`. */
  baseUrl: string;
  /** An agent key; left out where reads need none. */
  key?: string;
}

/** Every operation of the document, as `openapi-fetch` has them: `GET("/api/v1/...")` answers `{ data, error, response }`. */
export function createClient({ key, headers, ...options }: StudioOptions): Client<paths> {
  const own = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  return createFetchClient<paths>({ ...options, headers: { ...own, ...asRecord(headers) } as Record<string, string> });
}

/** The calls of an agent: each answers what the registry said, or throws a `StudioError`. */
export class Registry {
  readonly client: Client<paths>;

  constructor(options: StudioOptions) {
    this.client = createClient(options);
  }

  /** All pages of the list, as one. */
  async list(query: ListQuery = {}): Promise<RegistryList["capabilities"]> {
    const found: RegistryList["capabilities"] = [];
    let cursor: string | undefined;
    do {
      const asked = { ...query, ...(cursor === undefined ? {} : { cursor }) };
      const page = taken(await this.client.GET("/api/v1/capability_registry_list", { params: { query: asked } }));
      found.push(...page.capabilities);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  /** One capability: its instructions, tools and forms. `digest` or `revision` pins an older release. */
  async load(capabilityId: string, pin: { digest?: string; revision?: number } = {}): Promise<SkillBundle> {
    const query = { capability_id: capabilityId, ...pin };
    return taken(await this.client.GET("/api/v1/capability_skill_load", { params: { query } }));
  }

  /** Which capability a message asks for. */
  async match(message: string, more: Omit<MatchRequest, "message"> = {}): Promise<MatchAnswer> {
    return taken(await this.client.POST("/api/v1/capability_match", { body: { ...more, message } }));
  }

  /** Capabilities for some words, by meaning and by keyword. */
  async search(q: string, more: Omit<SearchQuery, "q"> = {}): Promise<SearchResults> {
    return taken(await this.client.GET("/api/v1/capability_search", { params: { query: { ...more, q } } }));
  }
}

type ListQuery = NonNullable<paths["/api/v1/capability_registry_list"]["get"]["parameters"]["query"]>;
type SearchQuery = paths["/api/v1/capability_search"]["get"]["parameters"]["query"];
type MatchRequest = components["schemas"]["MatchRequest"];

function taken<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new StudioError(answer.response.status, answer.error);
  return answer.data;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
