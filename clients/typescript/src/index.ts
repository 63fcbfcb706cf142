// A typed client: paths, parameters, answers and refusals come from the registry's own OpenAPI document.
import createFetchClient, { type Client, type ClientOptions } from "openapi-fetch";

import { checkBundle } from "./digest.js";
import { asRecord, ResponseRejected, StudioError } from "./errors.js";
import type { components, paths } from "./schema.js";
import { boundedFetch, type Limits, sizeOf } from "./transport.js";

export { bundleDigest, canonicalJson } from "./digest.js";
export { RegistryUnreachable, ResponseRejected, StudioError } from "./errors.js";
export { type Prompt, type PromptOptions, renderPrompt } from "./prompt.js";
export { checkReadiness, type Environment, type Readiness, userMessage } from "./readiness.js";
export type { components, operations, paths } from "./schema.js";
export { type Entry, type Hint, hintsFromMatch, Session, type SessionOptions, type Source, type Turn } from "./session.js";
export { wireName } from "./text.js";
export type { Limits } from "./transport.js";
export type RegistryList = components["schemas"]["RegistryList"];
export type SkillBundle = components["schemas"]["SkillBundle"];
export type MatchAnswer = components["schemas"]["MatchAnswer"];
export type SearchResults = components["schemas"]["SearchResults"];

export interface StudioOptions extends Omit<ClientOptions, "fetch">, Limits {
  /** The registry's address, such as `https://studio.example.com`. */
  baseUrl: string;
  /** An agent key; left out where reads need none. */
  key?: string;
  /** In the place of the runtime's own. */
  fetch?: typeof fetch;
}

/** Of one call. */
export interface CallOptions {
  /** Ends the call when it is aborted, with the signal's reason. */
  signal?: AbortSignal;
}

const LIST_BYTES_MAX = 128 * 1024 * 1024;
const PAGES_MAX = 1000;

/**
 * Every operation of the document, as `openapi-fetch` has them: `GET("/api/v1/...")` answers `{ data, error, response }`.
 * Each call is bounded in time and bytes.
 */
export function createClient({ key, headers, fetch: send, timeoutMs, bytesMax, ...options }: StudioOptions): Client<paths> {
  const own = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const limits = { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(bytesMax === undefined ? {} : { bytesMax }) };
  return createFetchClient<paths>({
    ...options,
    fetch: boundedFetch(send ?? ((request) => fetch(request)), limits),
    headers: { ...own, ...asRecord(headers) } as Record<string, string>,
  });
}

/** The calls of an agent: each returns what the registry said, or throws a `StudioError`. */
export class Registry {
  readonly client: Client<paths>;
  private readonly listBytesMax: number;

  constructor(options: StudioOptions) {
    this.client = createClient(options);
    this.listBytesMax = options.listBytesMax ?? LIST_BYTES_MAX;
  }

  /** All pages of the list, as one. */
  async list(query: ListQuery = {}, options: CallOptions = {}): Promise<RegistryList["capabilities"]> {
    const found: RegistryList["capabilities"] = [];
    const cursors = new Set<string>();
    let cursor: string | undefined;
    let bytes = 0;
    do {
      const asked = { ...query, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await call(() =>
        this.client.GET("/api/v1/capability_registry_list", { params: { query: asked }, ...options }),
      );
      bytes += sizeOf(answer.response);
      const page = taken(answer);
      if (!Array.isArray(page.capabilities)) throw new ResponseRejected("ANSWER_REFUSED", "A page of the list has no entries");
      for (const each of page.capabilities) found.push(each);
      cursor = page.next_cursor ?? undefined;
      if (cursor !== undefined && (typeof cursor !== "string" || cursors.has(cursor) || cursors.size >= PAGES_MAX)) {
        throw new ResponseRejected("ANSWER_REFUSED", "The list does not end: a cursor came twice, or there are too many pages");
      }
      if (bytes > this.listBytesMax) {
        throw new ResponseRejected("ANSWER_TOO_LARGE", `The list is larger than ${this.listBytesMax} bytes`);
      }
      if (cursor !== undefined) cursors.add(cursor);
    } while (cursor !== undefined);
    return found;
  }

  /**
   * One capability: its instructions, tools and forms. `digest` or `revision` pins an older release. The digest is
   * computed from what came: a `ResponseRejected` where it is another one.
   */
  async load(capabilityId: string, pin: Pin = {}, options: CallOptions = {}): Promise<SkillBundle> {
    const query = { capability_id: capabilityId, ...pin };
    const answer = await call(() => this.client.GET("/api/v1/capability_skill_load", { params: { query }, ...options }));
    const bundle = taken(answer);
    await checkBundle(bundle, capabilityId, pin.digest);
    return bundle;
  }

  /** Which capability a message asks for. */
  async match(message: string, more: Omit<MatchRequest, "message"> = {}, options: CallOptions = {}): Promise<MatchAnswer> {
    const body = { ...more, message };
    return taken(await call(() => this.client.POST("/api/v1/capability_match", { body, ...options })));
  }

  /** Capabilities for some words, by meaning and by keyword. */
  async search(q: string, more: Omit<SearchQuery, "q"> = {}, options: CallOptions = {}): Promise<SearchResults> {
    const params = { query: { ...more, q } };
    return taken(await call(() => this.client.GET("/api/v1/capability_search", { params, ...options })));
  }
}

export interface Pin {
  digest?: string;
  revision?: number;
}
type ListQuery = NonNullable<paths["/api/v1/capability_registry_list"]["get"]["parameters"]["query"]>;
type SearchQuery = paths["/api/v1/capability_search"]["get"]["parameters"]["query"];
type MatchRequest = components["schemas"]["MatchRequest"];

/** A response that is not JSON is the registry's fault, or that of something between. */
async function call<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof SyntaxError) throw new ResponseRejected("ANSWER_REFUSED", "The response is not JSON");
    throw error;
  }
}

function taken<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.error !== undefined || !answer.response.ok) throw new StudioError(answer.response.status, answer.error);
  if (typeof answer.data !== "object" || answer.data === null || Array.isArray(answer.data)) {
    throw new ResponseRejected("ANSWER_REFUSED", "The response is not an object");
  }
  return answer.data;
}
