import type { CloseMessage, Freshness, ServerMessage } from "../../protocol/messages.ts";
import type { Transport } from "../connection-state.ts";
import type { StreamPlan } from "../options.ts";
import { startTransport } from "./attempt.ts";
import type { End } from "./end.ts";
import { runPolls } from "./poll-transport.ts";
import { runSse } from "./sse-transport.ts";
import { runWebSocket } from "./websocket-transport.ts";

/** A message of a stream, or of polls with the end of each page. */
export type TransportMessage =
  | ServerMessage
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

export interface TransportConnection {
  abort(): void;
}

/** Opens a connection after `cursor`, or at the head. It replaces the same `client`'s last one. */
export function openTransport(
  { base, query, keepsView, headers, platform }: StreamPlan,
  transport: Transport,
  cursor: string | undefined,
  client: string,
  listener: TransportListener,
): TransportConnection {
  const urlOf = (path: string, more: Readonly<Record<string, string>>) =>
    `${base}/api/v1/${path}?${new URLSearchParams({ ...query, ...more })}`;
  const after = cursor && { after: cursor };
  const following = { ...after, ...(!keepsView && { snapshot: "false" }), client };
  return startTransport(platform, headers, listener, (context) => {
    if (transport === "sse") return runSse(context, urlOf("events", following));
    if (transport === "poll")
      return runPolls(context, platform, cursor, keepsView, (more) => urlOf("events", more));
    return runWebSocket(context, platform, {
      urlOf: (more) => urlOf("stream", { ...following, ...more }).replace(/^http/, "ws"),
      tickets: headers.authorization && `${base}/api/v1/tickets`,
      why: urlOf("events", { limit: "1", ...after }),
    });
  });
}
