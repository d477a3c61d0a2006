import { type End, ended, endOf } from "./end.ts";
import type { Platform } from "./platform.ts";
import type { LineListener, LineMessage, TransportConnection } from "./transport.ts";

/** What a line may do while it is open. */
export interface LineRun {
  /** Resolves with an answer of these statuses; an {@link End} is thrown instead of any other, and where nobody answers. */
  readonly ask: (
    url: string,
    statuses: readonly number[],
    accept?: string,
    method?: string,
  ) => Promise<Response>;
  /** Throws what the line is to end with. */
  readonly tell: (message: LineMessage) => void;
  /** Aborts when the line is over. */
  readonly signal: AbortSignal;
}

type Fetch = NonNullable<Platform["fetch"]>;

/** A line that is what `run` does, until that ends: with what it returns, or throws. `headers` go with all that it asks. */
export function startTransport(
  { fetch }: Platform,
  headers: Readonly<Record<string, string>>,
  { onMessage, onEnd }: LineListener,
  run: (line: LineRun) => Promise<End>,
): TransportConnection {
  const over = new AbortController();
  const { signal } = over;
  const ask = async (url: string, statuses: readonly number[], accept = "*/*", method = "GET") => {
    // By its bare name: as a method of anything else, a browser's throws. Without one no line is opened that asks (see ladderOf).
    const asked = (fetch as Fetch)(url, { method, headers: { ...headers, accept }, signal });
    const response = await asked.catch((error) => {
      // Of Node's errors only the cause says what happened.
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
 * A problem (RFC 9457) is the server's own word: what the client asks is wrong, or it is to come later. Any other answer was put there by
 * what is in between.
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
