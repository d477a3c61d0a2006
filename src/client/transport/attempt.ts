import { type End, ended, endOf } from "./end.ts";
import type { Platform } from "./platform.ts";
import type { LineListener, LineMessage, TransportConnection } from "./transport.ts";

/** What a transport may use while its connection is open. */
export interface LineRun {
  /**
   * Sends a request and returns a response with one of these statuses. Throws an {@link End} for
   * other statuses or no response.
   */
  readonly ask: (
    url: string,
    statuses: readonly number[],
    accept?: string,
    method?: string,
  ) => Promise<Response>;
  /** Delivers a message. Throws the End that the connection must end with. */
  readonly tell: (message: LineMessage) => void;
  /** Aborts when the connection has ended. */
  readonly signal: AbortSignal;
}

type Fetch = NonNullable<Platform["fetch"]>;

/**
 * Runs a transport. The connection ends when `run` returns or throws. `headers` are sent with each
 * request.
 */
export function startTransport(
  { fetch }: Platform,
  headers: Readonly<Record<string, string>>,
  { onMessage, onEnd }: LineListener,
  run: (line: LineRun) => Promise<End>,
): TransportConnection {
  const over = new AbortController();
  const { signal } = over;
  const ask = async (url: string, statuses: readonly number[], accept = "*/*", method = "GET") => {
    // Call it by its bare name: a browser's fetch throws as a method of another object. Without
    // fetch, no transport that needs it is chosen (see ladderOf).
    const asked = (fetch as Fetch)(url, { method, headers: { ...headers, accept }, signal });
    const response = await asked.catch((error) => {
      // In Node, only the cause describes the error.
      throw ended("away", `no answer: ${error.cause ?? error}`);
    });
    if (!statuses.includes(response.status)) throw await refusal(response);
    return response;
  };
  const tell = (message: LineMessage) => {
    signal.throwIfAborted();
    onMessage(message);
  };
  const whole = async () => {
    const end = await run({ ask, tell, signal }).catch(endOf);
    if (signal.aborted) return;
    over.abort();
    onEnd(end);
  };
  void whole();
  return over;
}

/**
 * Interprets an error response. A problem (RFC 9457) comes from the server: the request is wrong,
 * or the client should retry later. Any other response comes from an intermediary.
 */
async function refusal(response: Response): Promise<End> {
  const { status, headers } = response;
  const own = headers.get("content-type")?.includes("problem+json");
  const { detail = "" }: { detail?: string } = own ? Object(await response.json()) : {};
  const later = status >= 500 || status === 429 || status === 408;
  return ended(
    later ? "backoff" : own ? "stop" : "cut",
    `HTTP ${status} ${detail}`,
    1_000 * Number(headers.get("retry-after")),
  );
}
