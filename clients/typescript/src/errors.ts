// Why a call has no result: refused by the registry, not answered at all, or answered with what must not be used.

/** What a refused call holds: a stable `code`, words for people, and whatever else the answer said. */
export class StudioError extends Error {
  readonly code: string;
  /** Of the response; 0 where there is none, or it is not used. */
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

/** No response: refused, interrupted, or not whole within the time. `cause` is what the runtime says. */
export class RegistryUnreachable extends StudioError {
  constructor(message: string, cause?: unknown) {
    super(0, { error: { code: "REGISTRY_UNREACHABLE", message } });
    this.name = "RegistryUnreachable";
    if (cause !== undefined) this.cause = cause;
  }
}

/** The response does not match the contract; nothing of it is used. */
export class ResponseRejected extends StudioError {
  constructor(code: "ANSWER_REFUSED" | "ANSWER_TOO_LARGE" | "DIGEST_MISMATCH", message: string) {
    super(0, { error: { code, message } });
    this.name = "ResponseRejected";
  }
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
