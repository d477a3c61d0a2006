import { type End, ended, endOf } from "./end.ts";
import type { Line, LineListener, LineMessage } from "./line.ts";
import type { Platform } from "./platform.ts";

/** What a line over HTTP may do while it is open. */
export interface HttpLine {
  /** Resolves with an answer of these statuses; an {@link End} is thrown instead of any other, and where nobody answers. */
  readonly get: (url: string, accept: string, ...statuses: number[]) => Promise<Response>;
  readonly tell: (message: LineMessage) => void;
}

/** A line that is what `run` does, until that ends: with what it returns, or throws. */
export function openHttpLine(
  { fetch }: Platform,
  headers: Readonly<Record<string, string>>,
  { onMessage, onEnd }: LineListener,
  run: (line: HttpLine) => Promise<End>,
): Line {
  const over = new AbortController();
  const { signal } = over;
  const get = async (url: string, accept: string, ...statuses: number[]) => {
    // By its bare name: as a method of anything else, a browser's throws.
    const asked = fetch?.(url, { headers: { ...headers, accept }, signal });
    const response = await asked?.catch((error) => {
      throw ended("away", `no answer: ${error}`);
    });
    if (!response || !statuses.includes(response.status)) throw response && (await refusal(response));
    return response;
  };
  const tell = (message: LineMessage) => {
    signal.throwIfAborted();
    onMessage(message);
  };
  const whole = async () => {
    const end = await run({ get, tell }).catch(endOf);
    if (signal.aborted) return;
    over.abort();
    onEnd(end);
  };
  void whole();
  return { close: () => over.abort() };
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
  const reason = `HTTP ${status} ${detail}`;
  return ended(
    later ? "backoff" : own ? "stop" : "cut",
    reason,
    1_000 * Number(headers.get("retry-after")) || 0,
  );
}
