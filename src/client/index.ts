import { createStream } from "./create-stream.ts";
import { type ConnectOptions, readOptions } from "./options.ts";
import type { Stream } from "./stream.ts";

/* The client for browsers and Node, `flarewire/client`, without runtime dependencies. */

/**
 * Connects to a server: `connect("https://example.com", { channels: ["flares.*"] })`. Returns at
 * once and retries as long as necessary. Throws StreamError `misuse` if an argument is invalid.
 */
export function connect(url: string | URL, options: ConnectOptions = {}): Stream {
  return createStream(readOptions(url, options));
}

export type { EventBody, EventName, SourceState } from "../protocol/event.ts";
export type { Filter } from "../protocol/filter.ts";
export type { EventMessage } from "../protocol/messages.ts";
export type { View } from "../protocol/view/view.ts";
export type { Reset, StreamEvent, StreamItem } from "./client-state.ts";
export type { ConnectionStatus } from "./connection.ts";
export type { Hold, Transport } from "./connection-state.ts";
export type { DataFreshness } from "./freshness.ts";
export type { ConnectOptions } from "./options.ts";
export type { Listened, Listener, Stream } from "./stream.ts";
export { StreamError, type StreamErrorCode } from "./stream-error.ts";
export type { Platform, SocketClass } from "./transport/platform.ts";
