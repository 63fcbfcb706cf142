// `fetch` with limits: one time for everything, a number of bytes, and an error of ours where there is no response.
import { RegistryUnreachable, ResponseRejected, StudioError } from "./errors.js";

export interface Limits {
  /** For one request, from its beginning to the last byte of the response; 20,000 by default. */
  timeoutMs?: number;
  /** Of one response, unpacked; 16 MiB by default. */
  bytesMax?: number;
  /** Of all pages of a list; 128 MiB by default. */
  listBytesMax?: number;
}

const TIMEOUT_MS = 20_000;
const BYTES_MAX = 16 * 1024 * 1024;
// How many bytes the body of a response had.
const sizes = new WeakMap<Response, number>();

/** How many bytes the body of a response had that `boundedFetch` returned. */
export function sizeOf(response: Response): number {
  return sizes.get(response) ?? 0;
}

/**
 * `fetch` whose response is whole in memory when it is there. Throws `RegistryUnreachable`, `ResponseRejected` for one
 * that is too large, and the reason of the request's own signal.
 */
export function boundedFetch(send: typeof fetch, limits: Limits = {}): (request: Request) => Promise<Response> {
  const { timeoutMs = TIMEOUT_MS, bytesMax = BYTES_MAX } = limits;
  return async (request) => {
    const stopper = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A race, since a signal alone ends nothing once the garbage collector has taken the Request that follows it
    // (https://github.com/nodejs/undici/issues/4068): a silent registry was waited for without end.
    const ended = new Promise<never>((_resolve, reject) => {
      const late = new RegistryUnreachable(`No whole response came within ${timeoutMs / 1000} seconds`);
      timer = setTimeout(() => reject(late), timeoutMs);
      const abort = () => reject(request.signal.reason);
      request.signal.addEventListener("abort", abort, { signal: stopper.signal });
      if (request.signal.aborted) abort();
    });
    try {
      const limited = new Request(request, { signal: stopper.signal });
      const response = await Promise.race([ended, send(limited)]);
      return await Promise.race([ended, whole(response, bytesMax)]);
    } catch (error) {
      if (error instanceof StudioError) throw error;
      if (request.signal.aborted) throw request.signal.reason;
      throw new RegistryUnreachable(`The registry could not be reached: ${why(error)}`, error);
    } finally {
      clearTimeout(timer);
      stopper.abort();
    }
  };
}

/** The response with its body read, no further than the limit. */
async function whole(response: Response, bytesMax: number): Promise<Response> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    size += piece.value.byteLength;
    if (size > bytesMax) {
      await reader?.cancel();
      throw new ResponseRejected("ANSWER_TOO_LARGE", `The response is larger than ${bytesMax} bytes`);
    }
    parts.push(piece.value);
  }
  const headers = new Headers(response.headers);
  // Of the bytes on the wire, which were unpacked.
  for (const name of ["content-encoding", "content-length"]) headers.delete(name);
  const { status, statusText } = response;
  const isEmpty = status === 204 || status === 205 || status === 304;
  const read = new Response(isEmpty ? null : new Blob(parts), { status, statusText, headers });
  sizes.set(read, size);
  return read;
}

function why(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
