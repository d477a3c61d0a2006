import type { EventName } from "../protocol/event.ts";
import type { Filter } from "../protocol/filter.ts";
import type { Transport } from "./connection-state.ts";
import { misuse, oneOf } from "./stream-error.ts";
import { type Platform, platformOf } from "./transport/platform.ts";

/** What {@link connect} may be told beside the address. */
export interface ConnectOptions {
  /** Channels or patterns, such as `["flares.*", "charts.bsc"]`; default `["*"]`: all. */
  readonly channels?: readonly string[];
  /**
   * Only these items and events, selected by the server. An item enters when it meets the filter and leaves when it no longer does; with `sticky: true` it stays
   * until it leaves its list, which is the default beside `names`. With `names` no lists can be kept, and there is no `view`. Default: all.
   */
  readonly filter?: Filter;
  /** An API key, as `flarewire keys add` prints it. Sent in a header field, never in an address: for a WebSocket, which has none, it fetches a ticket each time. Default: none. */
  readonly key?: string;
  /** By what the events come. `auto`, the default: by WebSocket, else server-sent events, else long poll, whichever brings messages; and back up when that works again. */
  readonly transport?: Transport | "auto";
  /** Go on behind this cursor of an earlier stream, with the same channels and filter. There is then no `view` until a reset. Default: begin with the lists. */
  readonly after?: string;
  /** Closes the stream when it aborts. */
  readonly signal?: AbortSignal;
  /** How long a page is hidden before the stream pauses, in milliseconds; 0: at once, Infinity: never. Default 10,000. No effect outside of browsers. */
  readonly pauseHiddenAfterMs?: number;
  /** Most items that wait for the reader of `for await`, 1 or more. When they are reached the stream pauses, and goes on from its cursor when half are read. Default 1,000. */
  readonly queueLimit?: number;
  /** How long a transport may bring no message before the next is tried; default 8,000. */
  readonly firstMessageMs?: number;
  /** How long a lesser transport is used before a better one is tried again; default 60,000, longer each time that it fails. */
  readonly climbAfterMs?: number;
  /** In place of what stands in the global scope; e.g. `{ WebSocket }` of the package `ws`. */
  readonly platform?: Partial<Platform>;
}

/** The options, checked and complete. */
export interface StreamPlan
  extends Required<
      Pick<ConnectOptions, "pauseHiddenAfterMs" | "queueLimit" | "firstMessageMs" | "climbAfterMs">
    >,
    Pick<ConnectOptions, "after" | "signal"> {
  /** The server's address with its base path, without a slash at the end; `http` or `https`. */
  readonly base: string;
  /** What every address asks for, whatever the transport. */
  readonly query: Readonly<Record<string, string>>;
  /** Lists are kept. */
  readonly keepsView: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly ladder: readonly Transport[];
  readonly platform: Platform;
}

/** The names of all events, as a list that needs no schema library. A test sees to it that none is left out. */
export const EVENT_NAMES = [
  "flare-started",
  "flare-updated",
  "flare-finished",
  "flare-withdrawn",
  "flare-expired",
  "token-listed",
  "token-updated",
  "token-unlisted",
  "chart-updated",
  "leaderboard-updated",
  "source-status",
] satisfies EventName[];

/** The fields of a filter. As above. */
export const FILTERS = [
  "tokens",
  "symbols",
  "min_liquidity",
  "min_price_change",
  "sticky",
  "names",
] satisfies (keyof Filter)[];

const NUMBERS = {
  pauseHiddenAfterMs: 10_000,
  queueLimit: 1_000,
  firstMessageMs: 8_000,
  climbAfterMs: 60_000,
};

const OPTIONS = [
  "channels",
  "filter",
  "key",
  "transport",
  "after",
  "signal",
  "platform",
  ...Object.keys(NUMBERS),
] satisfies string[];

/** Checks what a program gave. Throws StreamError `misuse`, which says what to give instead. What values a filter takes the server knows, and says. */
export function readOptions(given: string | URL, options: ConnectOptions): StreamPlan {
  for (const name of Object.keys(options)) oneOf("option", name, OPTIONS);
  const { channels = ["*"], filter = {}, key, transport = "auto" } = options;
  for (const name of Object.keys(filter)) oneOf("filter", name, FILTERS);
  if (!Array.isArray(channels)) misuse(`channels "${channels}"`, 'give an array, such as ["flares.*"]');
  // Not told: errors end up in logs.
  if (key !== undefined && !/^[!-~]+$/.test(key))
    misuse("this key", "give one as flarewire keys add prints it");
  const platform = platformOf(options.platform);
  const numbers = { ...NUMBERS };
  for (const name of Object.keys(numbers) as (keyof typeof NUMBERS)[]) {
    const value = options[name] ?? numbers[name];
    const least = name === "pauseHiddenAfterMs" ? 0 : 1;
    if (!(value >= least)) misuse(`${name} ${value}`, `give a number from ${least} on`);
    numbers[name] = value;
  }
  return {
    ...options,
    ...numbers,
    base: readAddress(given),
    // Without what is undefined; lists become texts with commas in the address.
    query: JSON.parse(JSON.stringify({ channels, ...filter })),
    keepsView: !filter.names,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    ladder: ladderOf(transport, platform, key !== undefined),
    platform,
  };
}

function readAddress(given: string | URL): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  const url = URL.parse(`${given}`, location?.href);
  if (url && /^(http|ws)s?:[^?#@]+$/.test(url.href)) {
    return url.href.replace(/^ws/, "http").replace(/\/+$/, "");
  }
  // Of one that holds more no more is told: a password or a key may be in it, and errors end up in logs.
  return misuse(`address "${url?.origin ?? given}"`, "give one such as https://example.com/base");
}

/** The transports that there are here and may be used. */
function ladderOf(asked: Transport | "auto", platform: Platform, withKey: boolean): readonly Transport[] {
  const all = ["websocket", "sse", "poll"] as const;
  oneOf("transport", asked, ["auto", ...all]);
  const ladder = all.filter(
    (name) =>
      (asked === "auto" || asked === name) &&
      (name === "websocket" ? platform.WebSocket && (platform.fetch || !withKey) : platform.fetch),
  );
  if (ladder.length > 0) return ladder;
  return misuse(`no ${asked} here`, 'give platform: { WebSocket, fetch }, or use "sse"');
}
