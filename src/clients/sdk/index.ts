import type { AnyFlare } from "../../base/model/index.ts";
import type { FlareOn } from "./client-state.ts";
import { type BasicStream, createStream } from "./create-stream.ts";
import { trace } from "./features/debug.ts";
import { createLatest } from "./features/latest.ts";
import { createUpdate } from "./features/update.ts";
import { createListeners } from "./listeners.ts";
import { type ConnectOptions, EVENT_NAMES, readOptions, type Selection } from "./options.ts";
import type { Listened, Listener, Stream } from "./stream.ts";
import { misuse, oneOf } from "./stream-error.ts";

/* The client for browsers and Node, `flarewire/client`, without runtime dependencies. */

/**
 * Connects to a server: `connect("https://example.com", { channels: ["flares.*"] })`. Returns at
 * once and retries as long as necessary. Throws StreamError `misuse` if an argument is invalid.
 */
export function connect<const C extends readonly string[]>(
  url: string | URL,
  options: ConnectOptions & { readonly channels?: C | undefined } = {},
): Stream<FlareOn<C[number]>> {
  const plan = readOptions(url, options);
  plan.apply = createLatest();
  const select = createUpdate(plan, options);
  const listeners = createListeners();
  if (options.debug) trace(plan, options.debug, listeners);
  const { stream, input } = createStream(plan, listeners);
  const listen =
    (isOnce: boolean) =>
    <N extends keyof Listened>(name: N, listener: Listener<N, AnyFlare>) => {
      oneOf("event", name, LISTENED);
      mustBeOpen();
      return listeners.add(name, listener, isOnce);
    };
  const mustBeOpen = () => {
    if (stream.connection.state === "closed") misuse("the stream is closed", "connect again");
  };
  return Object.assign(stream, {
    on: listen(false),
    once: listen(true),
    off: listeners.remove,
    update: (selection: Selection) => {
      mustBeOpen();
      select(selection);
      // Opens another connection at once, unless the stream is paused for another reason.
      input({ type: "hold", hold: "update" });
      input({ type: "release", hold: "update" });
    },
    // The server sends flares in the form of the channels' group.
  } satisfies Omit<Stream<AnyFlare>, Exclude<keyof BasicStream, "on">>) as Stream<FlareOn<C[number]>>;
}

const LISTENED = [...EVENT_NAMES, "event", "reset", "connection", "error"] satisfies string[];

export type {
  AnyFlare,
  Candle,
  ChainFlare,
  ChartItem,
  ExchangeFlare,
  Explanation,
  Flare,
  LeaderboardEntry,
  Listing,
  Outcome,
  Token,
} from "../../base/model/index.ts";
export type { EventBody, EventName, SourceState } from "../../base/protocol/event.ts";
export type { Filter } from "../../base/protocol/filter.ts";
export type { EventMessage } from "../../base/protocol/messages.ts";
export type { View } from "../../base/protocol/view/view.ts";
export type { Reset, StreamEvent, StreamItem } from "./client-state.ts";
export type { ConnectionStatus } from "./connection.ts";
export type { Hold, Transport } from "./connection-state.ts";
export type * from "./event-types.ts";
export type { DataFreshness } from "./freshness.ts";
export type { ConnectOptions, Selection } from "./options.ts";
export type { Listened, Listener, Stream } from "./stream.ts";
export { StreamError, type StreamErrorCode } from "./stream-error.ts";
export type { Platform, SocketClass } from "./transport/platform.ts";
