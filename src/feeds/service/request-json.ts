import { retryAfterMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { DeadlineExpired, withDeadline } from "../../base/lib/time/deadline.ts";

/** Why a request failed, in words such as "returned 503". */
export interface Failure {
  readonly reason: string;
  /** Delay that the upstream requested, limited to 1 s to 5 min. */
  readonly retryAfterMs?: number;
  /** The upstream rejected it because of too many requests. */
  readonly isRate?: boolean;
}

export type Answer =
  | { readonly kind: "fresh"; readonly body: unknown; readonly etag?: string; readonly headers: Headers }
  /** 304: unchanged since the last ETag. */
  | { readonly kind: "unchanged"; readonly headers: Headers }
  /** Nothing is served at this address, or not with this method: 404, 405, 501. */
  | { readonly kind: "absent"; readonly failure: Failure }
  /**
   * An unusable response, which is not likely to change soon: not JSON, not UTF-8, too large, or
   * any other status below 500 than 200.
   */
  | { readonly kind: "unusable"; readonly failure: Failure }
  /**
   * No complete response, or a temporary error: refused, timed out, interrupted, 418, 429, another
   * 5xx.
   */
  | { readonly kind: "failed"; readonly failure: Failure };

/** Settings that all requests to one upstream share. */
export interface RequestSettings {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Timeout from the start of a request to the last byte of its response, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum size of a body after decompression, in bytes. */
  readonly maxBytes: number;
  /** Default: GET. A POST has no body. */
  readonly method?: "GET" | "POST";
  /** Headers to add, or to send in place of the default ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_ETAG = 1_024;

/**
 * Requests JSON, conditionally with `etag`. Rejects only with the signal's reason. Does not follow
 * redirects: each poll would pay for them, and the operator should know that a service moved.
 */
export async function requestJson(
  url: string,
  etag: string | undefined,
  settings: RequestSettings,
  signal: AbortSignal,
): Promise<Answer> {
  const { clock, timeoutMs } = settings;
  try {
    return await withDeadline((inner) => exchange(url, etag, settings, inner), timeoutMs, clock, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", failure: { reason: inWords(error) } };
  }
}

async function exchange(
  url: string,
  etag: string | undefined,
  settings: RequestSettings,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = {
    accept: "application/json",
    "user-agent": "flarewire",
    ...settings.headers,
    ...(etag === undefined ? {} : { "if-none-match": etag }),
  };
  const response = await settings.fetch(url, {
    method: settings.method ?? "GET",
    headers,
    redirect: "manual",
    signal,
  });
  if (response.status === 304 && etag !== undefined) return { kind: "unchanged", headers: response.headers };
  const refusal = refusalOf(response, settings.clock);
  if (!refusal) return await readBody(response, settings.maxBytes);
  // Otherwise the connection stays in use until the body is garbage-collected.
  await response.body?.cancel();
  return refusal;
}

/** Returns the answer to a response whose body need not be read; otherwise `undefined`. */
function refusalOf({ status, headers }: Response, clock: Clock): Answer | undefined {
  if (status === 404 || status === 405 || status === 501)
    return { kind: "absent", failure: { reason: `returned ${status}` } };
  // Binance sends 418 to clients banned for ignoring its 429.
  if (status === 429 || status === 418 || status === 503) {
    const waitMs = retryAfterMs(headers, clock.now());
    const failure = {
      reason: `returned ${status}`,
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
      ...(status === 503 ? {} : { isRate: true }),
    };
    return { kind: "failed", failure };
  }
  if (status >= 500) return { kind: "failed", failure: { reason: `returned ${status}` } };
  if (status >= 300 && status < 400 && status !== 304)
    return unusable(`returned ${status}, and redirects are not followed: set the upstream's final address`);
  if (status !== 200) return unusable(`returned ${status}`);
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (/^application\/([\w.+-]+\+)?json$/.test(type)) return undefined;
  return unusable(`returned ${type.slice(0, 100) || "no content type"} instead of JSON`);
}

async function readBody(response: Response, maxBytes: number): Promise<Answer> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const { headers } = response;
  try {
    const text = await readText(response, maxBytes, decoder);
    if (text === undefined) return unusable(`returned more than ${maxBytes} bytes`);
    const body: unknown = JSON.parse(text);
    const etag = headers.get("etag") ?? "";
    return {
      kind: "fresh",
      body,
      headers,
      ...(etag === "" || etag.length > MAX_ETAG ? {} : { etag }),
    };
  } catch (error) {
    if (error instanceof SyntaxError) return unusable("returned malformed JSON");
    const isInvalidText = codeOf(error) === "ERR_ENCODING_INVALID_ENCODED_DATA";
    if (isInvalidText) return unusable("returned text that is not UTF-8");
    throw error;
  }
}

/** Returns the body; `undefined` if it is longer. */
export async function readText(
  response: Response,
  maxBytes: number,
  decoder = new TextDecoder(),
): Promise<string | undefined> {
  let bytes = 0;
  let text = "";
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function unusable(reason: string): Answer {
  return { kind: "unusable", failure: { reason } };
}

/** Describes error codes of the system and of the runtime's HTTP client. */
const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "broke off the connection",
  EPIPE: "broke off the connection",
  UND_ERR_SOCKET: "broke off the connection",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "broke off the connection",
  ENOTFOUND: "has a host name that does not resolve",
  EAI_AGAIN: "has a host name that does not resolve",
  ETIMEDOUT: "could not be connected to in time",
  UND_ERR_CONNECT_TIMEOUT: "could not be connected to in time",
};

/** Maximum length of an error's chain of causes. */
const MAX_CAUSES = 10;

function inWords(error: unknown): string {
  if (error instanceof DeadlineExpired) return error.message;
  const code = codeOf(error) ?? codeOf(error instanceof Error ? error.cause : undefined);
  return (
    connectionTrouble(error) ?? (code === undefined ? "could not be read" : `could not be read (${code})`)
  );
}

/**
 * Describes why a connection failed, as the second half of a sentence. Uses the first known code in
 * the error's chain of causes; `undefined` if there is none.
 */
export function connectionTrouble(error: unknown): string | undefined {
  let cause = error;
  // An error may be its own cause.
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth++) {
    const code = codeOf(cause) ?? "";
    if (Object.hasOwn(CODES, code)) return CODES[code];
    cause = cause.cause;
  }
  return undefined;
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
