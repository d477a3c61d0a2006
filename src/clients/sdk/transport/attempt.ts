import { actionAfter } from "../../../base/protocol/reconnect.ts";
import { type End, ended, endOf } from "./end.ts";
import type { Platform } from "./platform.ts";
import type { TransportListener, TransportMessage } from "./transport.ts";

export interface TransportContext {
  /** Sends a request. Throws an {@link End} for a status that is not listed, or no response. */
  readonly request: (
    url: string,
    statuses: readonly number[],
    more?: Readonly<Record<string, string>>,
    method?: string,
  ) => Promise<Response>;
  /** Delivers a message. Throws the End that the connection must end with. */
  readonly deliver: (message: TransportMessage) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a transport until `run` returns or throws. The headers are sent with each request. Aborting
 * the returned controller ends it without `onEnd`.
 */
export function startTransport(
  { fetch }: Platform,
  headers: Promise<Readonly<Record<string, string>>> | undefined,
  { onMessage, onEnd }: TransportListener,
  run: (context: TransportContext) => Promise<End>,
): AbortController {
  const over = new AbortController();
  const { signal } = over;
  const request = async (url: string, statuses: readonly number[], more?: object, method = "GET") => {
    // Call it by its bare name: a browser's fetch throws as a method of another object.
    const asked = fetch(url, { method, headers: { ...(await headers), ...more }, signal });
    const response = await asked.catch((error) => {
      // In Node, only the cause describes the error.
      throw ended("away", `no answer: ${error.cause ?? error}`);
    });
    if (!statuses.includes(response.status)) throw await refusal(response);
    return response;
  };
  const deliver = (message: TransportMessage) => {
    signal.throwIfAborted();
    onMessage(message);
  };
  void run({ request, deliver, signal })
    .catch(endOf)
    .then((end) => {
      if (signal.aborted) return;
      over.abort();
      onEnd(end);
    });
  return over;
}

/** A problem (RFC 9457) comes from the server, any other error from an intermediary. */
async function refusal(response: Response): Promise<End> {
  const { status, headers } = response;
  const own = headers.get("content-type")?.includes("problem+json");
  const { detail = "" }: { detail?: string } = own ? Object(await response.json()) : {};
  const action = actionAfter(status);
  return ended(
    own || action === "backoff" ? action : "fallback",
    `HTTP ${status} ${detail}`,
    status,
    1_000 * Number(headers.get("retry-after")),
  );
}
