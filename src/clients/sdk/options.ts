import type { EventName } from "../../base/protocol/event.ts";
import type { Filter } from "../../base/protocol/filter.ts";
import { applyMessage } from "./client-state.ts";
import type { Transport } from "./connection-state.ts";
import { misuse, oneOf } from "./stream-error.ts";
import type { TransportContext } from "./transport/attempt.ts";
import { type End, ended } from "./transport/end.ts";
import { type Platform, platformOf } from "./transport/platform.ts";
import type { UrlOf } from "./transport/transport.ts";

/** What a stream selects. */
export interface Selection {
  /**
   * Channels or patterns, such as `["flares.*", "charts.bsc"]`. Default: `["*"]`, all channels but
   * `candles` and the flares of groups other than `bsc`.
   */
  readonly channels?: readonly string[] | undefined;
  /**
   * Selects items and events. An item leaves when it no longer meets the filter. If `sticky` is set
   * (the default with `names`), it stays until it would leave the list without a filter. With
   * `names` only a reset has a `view`: what is running.
   */
  readonly filter?: Filter | undefined;
}

export interface ConnectOptions extends Selection {
  /**
   * An API key, or a function that returns one for each connection, and is called again after the
   * first refusal. The key is sent in a header, never in a URL; WebSockets fetch a ticket.
   * Default: none.
   */
  readonly key?: string | (() => string | Promise<string>) | undefined;
  /**
   * `events` (default): delivers every event, however late. `latest`: replaces a backlog of 64
   * events or more with its starts, surges, finishes and outcomes, then a reset `conflated` with
   * the current lists. A slow reader also causes a backlog. Long polls always deliver every event.
   */
  readonly mode?: "events" | "latest" | undefined;
  /** `auto` (default) tries WebSocket, SSE, then long poll, and later retries the better ones. */
  readonly transport?: Transport | "auto" | undefined;
  /** Resumes after this cursor, from a stream with equal options. Default: start with the lists. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until a hidden page pauses the stream; Infinity: never. Default 10,000. */
  readonly pauseHiddenAfterMs?: number | undefined;
  /**
   * Maximum items queued for `for await`; the stream then pauses until half are read. Default
   * 1,000.
   */
  readonly queueLimit?: number | undefined;
  /** Milliseconds without a message before the next transport is tried. Default 8,000. */
  readonly firstMessageMs?: number | undefined;
  /**
   * Minimum milliseconds on a lesser transport before a better one is retried; more after each
   * attempt. Default 60,000.
   */
  readonly upgradeAfterMs?: number | undefined;
  /** Receives a line for each request, message and change of the connection, never with the key. */
  readonly debug?: ((line: string) => void) | undefined;
  /** Replaces globals, such as `{ WebSocket }` from the package `ws`. */
  readonly platform?: Partial<Platform> | undefined;
}

/** The validated, complete options. */
export interface StreamPlan extends Readonly<typeof NUMBERS>, Pick<ConnectOptions, "after" | "signal"> {
  /** The server's base address without a trailing slash; `http` or `https`. */
  readonly base: string;
  /** What the next connection selects. */
  selection: SelectionPlan;
  /** More query parameters of WebSockets and SSE. Long polls would reject them. */
  readonly options?: Readonly<Record<string, string>>;
  /** Returns the headers of a connection's requests. Called for each connection. */
  readonly headers?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  apply: typeof applyMessage;
  /** Called when a connection ends; `answered`: it was subscribed. Returns it, or another end. */
  readonly judge?: ((end: End, answered: boolean | undefined) => End) | undefined;
  /** Runs before each connection. Returns the cursor after which the connection starts. */
  lead?: (context: TransportContext, cursor: string | undefined, urlOf: UrlOf) => Promise<string | undefined>;
  readonly transports: readonly Transport[];
  platform: Platform;
}

export interface SelectionPlan {
  /** Query parameters of each request for events, whatever the transport. */
  readonly query: Readonly<Record<string, string>>;
  /** Whether the stream maintains the lists after a reset. */
  readonly keepsView: boolean;
}

/** The names of all events, without a schema library. A test checks that it is complete. */
export const EVENT_NAMES = [
  "flare-started",
  "flare-surged",
  "flare-updated",
  "flare-finished",
  "flare-outcome",
  "flare-expired",
  "flare-withdrawn",
  "token-listed",
  "token-updated",
  "token-unlisted",
  "chart-updated",
  "leaderboard-updated",
  "candles-closed",
  "source-status",
] satisfies EventName[];

const NUMBERS = {
  pauseHiddenAfterMs: 10_000,
  queueLimit: 1_000,
  firstMessageMs: 8_000,
  upgradeAfterMs: 60_000,
};

const OPTIONS = [
  "channels",
  "filter",
  "key",
  "mode",
  "debug",
  "transport",
  "after",
  "signal",
  "platform",
  ...Object.keys(NUMBERS),
] satisfies string[];

/**
 * Validates names, address, channels, key, transport and numbers. The server checks the filter, the
 * mode and the cursor. Throws StreamError `misuse`.
 */
export function readOptions(given: string | URL, options: ConnectOptions): StreamPlan {
  for (const name of Object.keys(options)) oneOf("option", name, OPTIONS);
  const { key, transport = "auto", mode } = options;
  const platform = platformOf(options.platform);
  const numbers = { ...NUMBERS };
  for (const name of Object.keys(numbers) as (keyof typeof NUMBERS)[]) {
    const value = options[name] ?? numbers[name];
    if (!(value >= 0)) misuse(`${name} ${value}`, "use 0 or more");
    numbers[name] = value;
  }
  return {
    ...options,
    ...numbers,
    base: readAddress(given),
    selection: readSelection(options),
    options: mode ? { mode } : {},
    ...(key !== undefined && readKey(key)),
    transports: transportsOf(transport, platform),
    platform,
    apply: applyMessage,
  };
}

/** Validates the channels. The server checks the filter. */
export function readSelection({ channels = ["*"], filter = {} }: Selection): SelectionPlan {
  if (!Array.isArray(channels)) misuse(`channels "${channels}"`, 'use an array like ["flares.*"]');
  return {
    // Omits undefined values. Lists become comma-separated in the URL.
    query: JSON.parse(JSON.stringify({ ...filter, channels })),
    keepsView: !filter.names,
  };
}

function readKey(key: Exclude<ConnectOptions["key"], undefined>): Pick<StreamPlan, "headers" | "judge"> {
  const bearer = (value: string) => {
    // Do not quote the key: errors end up in logs.
    if (!/^[!-~]+$/.test(value)) misuse("invalid key", "use one from flarewire keys add");
    return { authorization: `Bearer ${value}` };
  };
  const isFixed = typeof key !== "function";
  if (isFixed) bearer(key);
  let refusals = 0;
  return {
    headers: async () => {
      try {
        return bearer(isFixed ? key : await key());
      } catch (error) {
        throw ended("away", `no key: ${error}`);
      }
    },
    judge: (end, answered) => {
      if (answered) refusals = 0;
      const { code, reason } = end;
      // The HTTP status and the close code of a refused key.
      const isRefused = code === 401 || code === 4003;
      if (isRefused && !isFixed && !refusals++) return { ...end, action: "backoff" };
      return code === 4003 ? { ...end, reason: `${reason}: the key was revoked or has expired` } : end;
    },
  };
}

function readAddress(given: string | URL): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  try {
    const { href } = new URL(given, location?.href);
    if (/^(http|ws)s?:[^?#@]+$/.test(href)) return href.replace(/^ws/, "http").replace(/\/+$/, "");
  } catch {
    // Not a URL.
  }
  // Quote no password, path or query, which may contain a key: errors end up in logs.
  const shown = `${given}`.replace(/.*@.*|([^:/])[/?#].*/s, "$1");
  return misuse(`address "${shown}"`, "use http(s)://, no user or query");
}

/** Returns the transports that are available here and allowed. */
function transportsOf(asked: Transport | "auto", { WebSocket }: Platform): readonly Transport[] {
  const all = ["websocket", "sse", "poll"] as const;
  oneOf("transport", asked, ["auto", ...all]);
  const transports = (asked === "auto" ? all : [asked]).filter((name) => WebSocket || name !== "websocket");
  return transports[0] ? transports : misuse("no WebSocket here", 'use platform: { WebSocket }, or "sse"');
}
