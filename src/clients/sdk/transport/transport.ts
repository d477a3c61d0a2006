import type { CloseMessage, Freshness, ServerMessage } from "../../../base/protocol/messages.ts";
import type { Start } from "../client-state.ts";
import type { Transport } from "../connection-state.ts";
import type { StreamPlan } from "../options.ts";
import { startTransport } from "./attempt.ts";
import type { End } from "./end.ts";
import { runPolls } from "./poll-transport.ts";
import { runSse } from "./sse-transport.ts";
import { runWebSocket } from "./websocket-transport.ts";

/** A message of a stream. With polls, `page` follows the events of each page. */
export type TransportMessage =
  | Exclude<ServerMessage, { type: "subscribed" }>
  | ({ readonly type: "subscribed" } & Start)
  | CloseMessage
  | {
      readonly type: "page";
      readonly cursor: string;
      readonly freshness: Freshness;
    };

/** Callbacks of a connection. None is called after an abort. */
export interface TransportListener {
  /** Throws the End that the connection must end with. */
  readonly onMessage: (message: TransportMessage) => void;
  /** Called once, last. */
  readonly onEnd: (end: End) => void;
}

/** Returns a URL of the server. `query` defaults to the connection's selection. */
export type UrlOf = (
  path: string,
  more: Readonly<Record<string, string>>,
  query?: Readonly<Record<string, string>>,
) => string;

/**
 * Opens a connection after `before`, or at the head. It replaces the last one of `client`. Aborting
 * the returned controller ends it.
 */
export function openTransport(
  { base, selection, options, headers, lead, platform }: StreamPlan,
  transport: Transport,
  before: string | undefined,
  client: string,
  listener: TransportListener,
): AbortController {
  const { query } = selection;
  const urlOf: UrlOf = (path, more, of = query) =>
    `${base}/api/v1/${path}?${new URLSearchParams({ ...of, ...more })}`;
  return startTransport(platform, headers?.(), listener, async (context) => {
    const cursor = lead ? await lead(context, before, urlOf) : before;
    const after = cursor && { after: cursor };
    const following = { ...after, ...options, client };
    if (transport === "sse") return runSse(context, urlOf("events", following));
    if (transport === "poll") return runPolls(context, platform, cursor, (more) => urlOf("events", more));
    return runWebSocket(context, platform, {
      urlOf: (more) => urlOf("stream", { ...following, ...more }).replace(/^http/, "ws"),
      tickets: headers && `${base}/api/v1/tickets`,
      why: urlOf("events", { limit: "1", ...after }),
    });
  });
}
