import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../base/lib/time/time.ts";
import { GROUPS } from "../../../base/model/index.ts";
import { ACCESS_SETTINGS } from "./access-settings.ts";
import {
  clusterName,
  clusterServers,
  directoryOrNone,
  duration,
  endpoints,
  existingFile,
  existingRecording,
  flag,
  hostName,
  hosts,
  integer,
  networks,
  oneOf,
  origins,
  orNone,
  processes,
  pushContact,
  serviceUrl,
  size,
  sourceName,
  speed,
  urlPath,
} from "./kinds.ts";
import { LIVE_SETTINGS } from "./live-settings.ts";
import { type Setting, setting } from "./setting.ts";

export type { Market, Setting } from "./setting.ts";

// The same path works from src/app/config/schema and from dist/config/schema.
const shipped = (name: string) =>
  fileURLToPath(new URL(`../../../../examples/data/${name}`, import.meta.url));

const KIB = 1_024;
const MIB = 1_048_576;

/** All settings, in order. The source of flags, variables, help and SETTINGS.md. */
export const SETTINGS = {
  host: setting("host", hostName, {
    default: "127.0.0.1",
    example: "0.0.0.0",
    description: "Address to listen on. With the default, only this machine can connect",
  }),
  port: setting("port", integer(0, 65_535), {
    default: "8080",
    example: "9000",
    description: "Port to listen on; 0 picks any free port",
  }),
  basePath: setting("basePath", urlPath, {
    default: "/",
    example: "/flarewire",
    description: "Path prefix of all endpoints, for a reverse proxy that forwards one path",
  }),
  source: setting("source", sourceName, {
    default: "engine",
    example: "https://flares.example.org",
    description:
      "Source of the data: engine (the embedded trend engine), the URL of a service with this API to poll, or follow:URL to mirror another Flarewire server",
  }),
  feed: setting("feed", oneOf(["simulated", "replay", "exchange", "chain", "live"]), {
    default: (market) => (market === "shipped" || market === "own" ? "replay" : market),
    defaultText: "simulated, or replay if file is given",
    example: "replay",
    description:
      "Market of the engine: simulated, replay (a recording), exchange (spot markets), chain (the markets of one chain), or live (three chains and the exchanges, combined)",
  }),
  chain: setting("chain", oneOf(["bsc", "polygon", "avalanche"]), {
    default: "bsc",
    example: "polygon",
    description: "Chain to follow",
  }),
  rpc: setting("rpc", endpoints, {
    default: "none",
    example: "https://bsc.example.org/v1/KEY,wss://bsc.example.com",
    description: "JSON-RPC endpoints of the chain. Two or more are compared. none: its public endpoints",
  }),
  seed: setting("seed", integer(0, 4_294_967_295), {
    default: "1",
    example: "7",
    description:
      "Seed of the simulated market. The same seed and start time produce the same market. Each seed has its own event log",
  }),
  file: setting("file", existingRecording, {
    default: shipped("2017-11-12.csv.gz"),
    defaultText: "the shipped day, 2017-11-12, if feed is replay",
    example: "recordings/today.csv.gz",
    description:
      "Recording to replay: a CSV file of candles, an NDJSON file of market events (either may be gzipped), or the directory of a Flarewire recording",
  }),
  profiles: setting("profiles", existingFile, {
    default: (market) => (market === "shipped" ? shipped("2017-11-12.profiles.json") : undefined),
    defaultText: "those of the shipped day, otherwise none",
    example: "recordings/profiles.json",
    description: "File with the group, name and facts of the recording's pairs",
  }),
  group: setting("group", oneOf(GROUPS), {
    default: undefined,
    defaultText: "as in the profiles, otherwise exchange",
    example: "bsc",
    description:
      "Group to which the pairs of a candle file belong. Channels that name no group, such as flares.pro, have the flares of bsc",
  }),
  speed: setting("speed", speed(0.001, 1_000_000), {
    default: (market) => (market === "shipped" || market === "own" ? "60" : "1"),
    defaultText: "1 for the simulated market, 60 for a recorded one",
    example: "600",
    description: "Speed of the market as a multiple of real time; max is as fast as possible",
  }),
  loop: setting("loop", flag, {
    default: (market) => String(market === "shipped"),
    defaultText: "true for the shipped day, otherwise false",
    example: "false",
    description: "Start again when the recording ends. Its times are shifted so that they never go back",
  }),
  warmup: setting("warmupMs", duration(0, 7 * DAY_MS), {
    default: (market) =>
      ({ simulated: "6h", shipped: "8h", own: "0", exchange: "6h", chain: "10m", live: "10m" })[market],
    defaultText:
      "6h for the simulated market and the exchanges, 8h for the shipped day, 10m for chain and live, otherwise 0",
    example: "30m",
    description:
      "Event time to process at full speed at startup, so that the first page is not empty; at most 12h for exchanges. chain and live start at the present and read this much of the past meanwhile, at least 1h of exchanges",
  }),
  ...LIVE_SETTINGS,
  record: setting("record", directoryOrNone, {
    default: "none",
    example: "/var/lib/flarewire/recordings",
    description:
      "Directory in which to record the feed's events, in a new directory per run; none: no recording",
  }),
  recordBytes: setting("recordBytes", orNone(size(16 * MIB)), {
    default: "none",
    example: "20GiB",
    description:
      "Size limit of all recordings in the record directory. The oldest files are removed, so only one process may record there. none: no limit",
  }),
  refresh: setting("refreshMs", duration(SECOND_MS, HOUR_MS), {
    default: "5s",
    example: "10s",
    description:
      "Interval of event time at which prices, counts and liquidity of listed tokens are refreshed",
  }),
  pollInterval: setting("pollIntervalMs", duration(100, HOUR_MS), {
    default: "1s",
    example: "5s",
    description: "Interval between two polls of an upstream service",
  }),
  upstreamTimeout: setting("upstreamTimeoutMs", duration(100, 5 * MINUTE_MS), {
    default: "5s",
    example: "2s",
    description: "Timeout of a request to an upstream service",
  }),
  staleAfter: setting("staleAfterMs", duration(SECOND_MS, DAY_MS), {
    default: "15s",
    example: "1m",
    description: "Age at which data counts as stale and the gateway as not ready",
  }),
  heartbeat: setting("heartbeatMs", duration(SECOND_MS, MINUTE_MS), {
    default: "15s",
    example: "5s",
    description: "Interval between two heartbeats on a stream",
  }),
  data: setting("data", directoryOrNone, {
    default: "none",
    defaultText:
      "$XDG_STATE_HOME/flarewire, or ~/.local/state/flarewire; none in a program that embeds Flarewire",
    example: "/var/lib/flarewire",
    description:
      "Directory where data is stored: the log of events, the history and the engine's state; none: memory only",
  }),
  logAge: setting("logAgeMs", duration(SECOND_MS, 30 * DAY_MS), {
    default: "10m",
    example: "1h",
    description: "Retention time of events, so that clients can resume; logCount may extend it",
  }),
  logCount: setting("logCount", integer(1, 100_000_000), {
    default: "10000",
    example: "50000",
    description: "Number of events that are stored whatever their age",
  }),
  logFlareAge: setting("logFlareAgeMs", duration(0, 30 * DAY_MS), {
    default: "24h",
    example: "3d",
    description:
      "Retention time of flare starts, finishes and outcomes, and of source state changes, if longer than logAge. They may use half of logBytes",
  }),
  logBytes: setting("logBytes", size(64 * KIB), {
    default: "64MiB",
    example: "256MiB",
    description:
      "Limit of stored events, in memory and in the data directory. It overrides logAge, logCount and logFlareAge. The engine's state comes on top",
  }),
  historyAge: setting("historyMs", duration(HOUR_MS, 366 * DAY_MS), {
    default: "30d",
    example: "90d",
    description:
      "Retention time of finished flares, with explanations and outcomes, and of the state of each minute, beyond the log",
  }),
  historyBytes: setting("historyBytes", size(64 * KIB), {
    default: "256MiB",
    example: "1GiB",
    description:
      "Limit of these records, half for flares and half for minutes, in the data directory or else in memory. It overrides historyAge: the oldest are deleted first",
  }),
  maxSockets: setting("maxSockets", integer(1, 1_000_000), {
    default: "10000",
    example: "50000",
    description:
      "Limit of open streams and polls; further ones get 503. Each worker counts separately. Connections of any kind: 1,024 more, within the limit of open files",
  }),
  maxSocketsPerIp: setting("maxSocketsPerIp", integer(1, 1_000_000), {
    default: "256",
    example: "20",
    description:
      "Limit of open streams and polls per client address; further ones get 503. Each worker counts separately. Connections of any kind: 256 more",
  }),
  anonymousRequests: setting("anonymousRequests", orNone(integer(1, 1_000_000_000)), {
    default: "3000",
    example: "600",
    description:
      "Requests per minute and address without a valid key, and the size of a burst; further ones get 429. Each 64 KiB of a response counts as another request. Health checks do not count. Each worker counts separately. none: no limit",
  }),
  anonymousStreams: setting("anonymousStreams", orNone(integer(1, 1_000_000_000)), {
    default: "1000",
    example: "60",
    description:
      "WebSockets and SSE streams that an address without a valid key may open per minute, and the size of a burst; further ones get 429. Each counts as a request too. Each worker counts separately. none: no limit",
  }),
  compression: setting("compression", flag, {
    default: "true",
    example: "false",
    description: "Compress WebSocket messages, once for all clients that support it",
  }),
  ...ACCESS_SETTINGS,
  alerts: setting("alerts", existingFile, {
    default: undefined,
    example: "/etc/flarewire/alerts.json",
    description: "File with webhooks and alert rules; read at startup",
  }),
  push: setting("push", pushContact, {
    default: undefined,
    example: "mailto:ops@example.org",
    description:
      "Lets visitors receive alerts by web push while the page is closed. The value is your contact, which push services require: mailto: or https:",
  }),
  allowedHosts: setting("allowedHosts", hosts, {
    default: "none",
    defaultText: "none: this machine's names if host is a loopback address, otherwise any",
    example: "flares.example.org",
    description:
      "Accepted Host names, such as one that a proxy forwards, besides localhost and loopback addresses; others get 421",
  }),
  publicUrl: setting("publicUrl", serviceUrl("http"), {
    default: undefined,
    example: "https://flares.example.org",
    description:
      "URL of this server for its visitors, with basePath, for links in previews and alerts. none: previews have links if the request is for a name in allowedHosts, and alerts have none",
  }),
  corsOrigins: setting("corsOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may read REST responses. No other origin can ever read health and metrics",
  }),
  allowedOrigins: setting("allowedOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may open a WebSocket or request events. Clients outside a browser send no origin and are accepted",
  }),
  trustProxy: setting("trustProxy", networks, {
    default: "none",
    example: "loopback,10.0.0.0/8",
    description: "Proxies whose X-Forwarded-For header is trusted for the client's address",
  }),
  metrics: setting("metrics", flag, {
    default: "true",
    example: "false",
    description: "Serve metrics at `/metrics`, for Prometheus",
  }),
  metricsPort: setting("metricsPort", orNone(integer(0, 65_535)), {
    default: "none",
    example: "9464",
    description:
      "Port of its own for metrics, which `port` then does not serve; 0 picks any free port. none: metrics are served on `port`, to everyone who reaches it",
  }),
  metricsHost: setting("metricsHost", hostName, {
    default: "127.0.0.1",
    example: "10.0.0.5",
    description: "Address on which metricsPort listens",
  }),
  workers: setting("workers", processes(64), {
    default: "1",
    example: "4",
    description:
      "Processes that serve clients on one port, besides the one that runs the source. 1: a single process; auto: one less than the available cores",
  }),
  cluster: setting("cluster", clusterServers, {
    default: "none",
    example: "redis://10.0.0.5:6379",
    description:
      "Redis or Valkey servers through which any number of gateways share one log, with the same cursors; one of them runs the source. none: a single gateway",
  }),
  clusterName: setting("clusterName", clusterName, {
    default: "flarewire",
    example: "bsc",
    description: "Name of the cluster, equal on all its gateways and different for each market",
  }),
  drain: setting("drainMs", duration(0, 10 * MINUTE_MS), {
    default: "10s",
    example: "30s",
    description: "Shutdown window over which clients are disconnected",
  }),
  logLevel: setting("logLevel", oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]), {
    default: "info",
    example: "warn",
    description:
      "Minimum level of the log on standard error: one JSON object per line, or text on a terminal",
  }),
  config: setting("config", existingFile, {
    default: undefined,
    example: "flarewire.json",
    description: "JSON file of settings by name; never read unless named here",
  }),
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

type Value<D> = D extends (market: never) => infer R ? R : D;

/**
 * The settings, frozen. Durations are in milliseconds, sizes in bytes. A limit of `none` is
 * Infinity. A setting without a value is `undefined`.
 */
export type Config = {
  readonly [N in SettingName as (typeof SETTINGS)[N]["field"]]:
    | z.output<(typeof SETTINGS)[N]["schema"]>
    | Extract<Value<(typeof SETTINGS)[N]["default"]>, undefined>;
};

/** `pollInterval` → `poll-interval`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `pollInterval` → `FLAREWIRE_POLL_INTERVAL`. */
export function variableOf(name: string): string {
  return `FLAREWIRE_${flagOf(name).replaceAll("-", "_").toUpperCase()}`;
}

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}
