import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { z } from "zod";
import { GROUPS } from "../../model/index.ts";
import {
  directoryOrNone,
  duration,
  endpoints,
  existingFile,
  existingRecording,
  flag,
  hostName,
  hosts,
  integer,
  integerOrNone,
  networks,
  oneOf,
  origins,
  type PathContent,
  processes,
  size,
  sizeOrNone,
  sourceName,
  speed,
  urlPath,
} from "./kinds.ts";
import { LIVE_SETTINGS } from "./live-settings.ts";
import { type Setting, setting } from "./setting.ts";

export type { Market, Setting } from "./setting.ts";

// The same two levels up from src/config and from dist/config.
const shipped = (name: string) => fileURLToPath(new URL(`../../../examples/data/${name}`, import.meta.url));

function look(path: string): PathContent {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "directory" : "special";
  } catch {
    return "nothing";
  }
}

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const KIB = 1_024;
const MIB = 1_048_576;
const GIB = 1_073_741_824;

/** Everything that can be set, in the order of help and documents. The one table: flags, environment, file, help and SETTINGS.md come from it. */
export const SETTINGS = {
  host: setting("host", hostName, {
    default: "127.0.0.1",
    example: "0.0.0.0",
    description: "Address to listen on; the default can be reached from this machine only",
  }),
  port: setting("port", integer(0, 65_535), {
    default: "8080",
    example: "9000",
    description: "Port to listen on; 0 takes any free one",
  }),
  basePath: setting("basePath", urlPath, {
    default: "/",
    example: "/flarewire",
    description: "Path in front of everything that is served, as a reverse proxy passes it on",
  }),
  source: setting("source", sourceName, {
    default: "engine",
    example: "https://flares.example.org",
    description:
      "Where the data comes from: the embedded engine, another service with this API, which is polled, or, as follow:URL, another Flarewire, whose events are mirrored",
  }),
  feed: setting("feed", oneOf(["simulated", "replay", "exchange", "chain", "live"]), {
    default: {
      simulated: "simulated",
      shipped: "replay",
      own: "replay",
      exchange: "exchange",
      chain: "chain",
      live: "live",
    },
    defaultText: "simulated; replay where file is given",
    example: "replay",
    description:
      "Where the engine's market events come from: a simulated market, replay of a recorded one, the spot markets of exchanges, or those on a chain; live: those on three chains and of the exchanges, as one",
  }),
  chain: setting("chain", oneOf(["bsc", "polygon", "avalanche"]), {
    default: "bsc",
    example: "polygon",
    description: "The chain that is followed",
  }),
  rpc: setting("rpc", endpoints, {
    default: "none",
    example: "https://bsc.example.org/v1/KEY,wss://bsc.example.com",
    description: "JSON-RPC endpoints of the chain, with two or more compared; none: its public ones",
  }),
  seed: setting("seed", integer(0, 4_294_967_295), {
    default: "1",
    example: "7",
    description:
      "What the simulated market is made from: the same seed and start give the same market. Each seed has a log of its own",
  }),
  file: setting("file", existingRecording(look), {
    default: shipped("2017-11-12.csv.gz"),
    defaultText: "where feed is replay, the shipped day, 2017-11-12",
    example: "recordings/today.csv.gz",
    description:
      "Recording to play: candles as CSV or market events as NDJSON, gzip or not, or the directory of a recording that Flarewire made",
  }),
  profiles: setting("profiles", existingFile(look), {
    default: {
      simulated: undefined,
      shipped: shipped("2017-11-12.profiles.json"),
      own: undefined,
      exchange: undefined,
      chain: undefined,
      live: undefined,
    },
    defaultText: "those of the shipped day, else none",
    example: "recordings/profiles.json",
    description: "File that gives the recording's pairs their group, name and facts",
  }),
  group: setting("group", oneOf(GROUPS), {
    default: undefined,
    defaultText: "as the profiles say, else exchange",
    example: "bsc",
    description: "Group to which all pairs of a candle file belong; only tokens of bsc can flare",
  }),
  speed: setting("speed", speed(0.001, 1_000_000), {
    default: { simulated: "1", shipped: "60", own: "60", exchange: "1", chain: "1", live: "1" },
    defaultText: "1 for the simulated market, 60 for a recorded one",
    example: "600",
    description: "Event time that passes in a second of real time, in seconds; max plays as fast as can be",
  }),
  loop: setting("loop", flag, {
    default: {
      simulated: "false",
      shipped: "true",
      own: "false",
      exchange: "false",
      chain: "false",
      live: "false",
    },
    defaultText: "true for the shipped day, else false",
    example: "false",
    description: "Start over when the recording ends, its times moved on so that they never go back",
  }),
  warmup: setting("warmupMs", duration(0, 7 * 24 * HOUR), {
    default: { simulated: "6h", shipped: "8h", own: "0", exchange: "6h", chain: "1h", live: "1h" },
    defaultText:
      "6h for the simulated market and the exchanges, 8h for the shipped day, 1h for a chain and for live, else 0",
    example: "30m",
    description:
      "Event time that is run through at full speed at the start, so that the first page is alive; of the exchanges at most 12h",
  }),
  ...LIVE_SETTINGS,
  record: setting("record", directoryOrNone, {
    default: "none",
    example: "/var/lib/flarewire/recordings",
    description:
      "Directory in which all that the feed reports is recorded, in a directory of its own for each run; none: nothing is",
  }),
  recordBytes: setting("recordBytes", sizeOrNone(16 * MIB, 1_024 * GIB), {
    default: "none",
    example: "20GiB",
    description:
      "Most room that all recordings in record's directory may take: the oldest files are removed, so one process may record there; none: nothing is removed",
  }),
  refresh: setting("refreshMs", duration(SECOND, HOUR), {
    default: "5s",
    example: "10s",
    description: "Grid of event time on which prices, counts and liquidity of listed tokens are refreshed",
  }),
  pollInterval: setting("pollIntervalMs", duration(100, HOUR), {
    default: "1s",
    example: "5s",
    description: "Pause between two polls of an upstream service",
  }),
  upstreamTimeout: setting("upstreamTimeoutMs", duration(100, 5 * MINUTE), {
    default: "5s",
    example: "2s",
    description: "How long an upstream service may take to answer",
  }),
  staleAfter: setting("staleAfterMs", duration(SECOND, 24 * HOUR), {
    default: "15s",
    example: "1m",
    description: "Age from which data counts as stale, and the gateway as not ready",
  }),
  heartbeat: setting("heartbeatMs", duration(SECOND, MINUTE), {
    default: "15s",
    example: "5s",
    description: "Pause between two heartbeats on a stream",
  }),
  data: setting("data", directoryOrNone, {
    default: "none",
    defaultText: "$XDG_STATE_HOME/flarewire, else ~/.local/state/flarewire; none in a program that embeds it",
    example: "/var/lib/flarewire",
    description: "Directory of what outlives a restart: events and the engine's state; none: memory only",
  }),
  logAge: setting("logAgeMs", duration(SECOND, 30 * 24 * HOUR), {
    default: "10m",
    example: "1h",
    description: "How long events are kept for clients that resume; logCount may keep them longer",
  }),
  logCount: setting("logCount", integer(1, 100_000_000), {
    default: "10000",
    example: "50000",
    description: "How many events are kept whatever their age",
  }),
  logFlareAge: setting("logFlareAgeMs", duration(0, 30 * 24 * HOUR), {
    default: "24h",
    example: "3d",
    description:
      "How long starts and finishes of flares, and changes of the source's state, are kept where that is longer; they may take half of logBytes",
  }),
  logBytes: setting("logBytes", size(64 * KIB, 1_024 * GIB), {
    default: "64MiB",
    example: "256MiB",
    description:
      "Most memory, and most room in the data directory, that kept events may take, above the other three",
  }),
  maxSockets: setting("maxSockets", integer(1, 1_000_000), {
    default: "10000",
    example: "50000",
    description:
      "Open streams and polls in all; one more is refused with 503. Connections of any kind: 1,024 more, and no more than the open files allow",
  }),
  maxSocketsPerIp: setting("maxSocketsPerIp", integer(1, 1_000_000), {
    default: "256",
    example: "20",
    description:
      "Open streams and polls of one client address; one more is refused with 503. Connections of any kind: 256 more",
  }),
  anonymousRequests: setting("anonymousRequests", integerOrNone(1, 1_000_000_000), {
    default: "3000",
    example: "600",
    description:
      "Requests a minute from one address without a valid key, and as many at once; each 64 KiB of an answer counts as one more; beyond that 429; health checks do not count; none: no limit. Each worker counts its own",
  }),
  compression: setting("compression", flag, {
    default: "true",
    example: "false",
    description: "Compress what is sent over WebSockets whose clients offer it, once for all of them",
  }),
  keys: setting("keys", existingFile(look), {
    default: undefined,
    defaultText: "none: no keys are needed, and everybody has everything",
    example: "/etc/flarewire/keys.json",
    description: "File of keys, as flarewire keys makes it; read anew whenever it changes",
  }),
  anonymous: setting("anonymous", oneOf(["free", "off"]), {
    default: "free",
    example: "off",
    description: "With a file of keys, what who comes without a key gets: the plan free, or nothing (401)",
  }),
  alerts: setting("alerts", existingFile(look), {
    default: undefined,
    defaultText: "none",
    example: "/etc/flarewire/alerts.json",
    description: "File of webhooks and of the rules by which they are told; read at the start",
  }),
  allowedHosts: setting("allowedHosts", hosts, {
    default: "none",
    defaultText: "none: names of this machine where host is a loopback address, else any",
    example: "flares.example.org",
    description:
      "Names in the Host field that are served beside localhost and loopback addresses, such as one that a proxy passes on; others get 421",
  }),
  corsOrigins: setting("corsOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may read the REST answers; health and metrics no other origin's page may",
  }),
  allowedOrigins: setting("allowedOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may open a WebSocket or ask for events; clients that are no browsers send none and are let in",
  }),
  trustProxy: setting("trustProxy", networks, {
    default: "none",
    example: "loopback,10.0.0.0/8",
    description: "Proxies whose X-Forwarded-For tells the client's address",
  }),
  metrics: setting("metrics", flag, {
    default: "true",
    example: "false",
    description: "Serve the gateway's own numbers at `/metrics`, for Prometheus",
  }),
  workers: setting("workers", processes(64), {
    default: "1",
    example: "4",
    description:
      "Processes that serve clients, on one port, beside the one that has the source; 1: one process does all; auto: one less than the machine has cores for it",
  }),
  drain: setting("drainMs", duration(0, 10 * MINUTE), {
    default: "10s",
    example: "30s",
    description: "Time over which clients are sent away when the gateway stops",
  }),
  logLevel: setting("logLevel", oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]), {
    default: "info",
    example: "warn",
    description:
      "Least level of what is logged to standard error: JSON, one object a line; on a terminal text",
  }),
  config: setting("config", existingFile(look), {
    default: undefined,
    example: "flarewire.json",
    description: "JSON file with settings by name; read only when named here, never found by itself",
  }),
} as const satisfies Record<string, Setting>;

/** A setting's name: its key in a file, and in documents. */
export type SettingName = keyof typeof SETTINGS;

/** All names, in the order of the table. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

type Optional = "group" | "profiles" | "keys" | "alerts" | "config";

/** What the program runs with. Frozen. Durations are milliseconds, sizes bytes; what has no default and was not given is `undefined`. */
export type Config = {
  readonly [N in SettingName as (typeof SETTINGS)[N]["field"]]:
    | z.output<(typeof SETTINGS)[N]["schema"]>
    | (N extends Optional ? undefined : never);
};

/** `pollInterval` → `poll-interval`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `pollInterval` → `FLAREWIRE_POLL_INTERVAL`. */
export function variableOf(name: string): string {
  return `FLAREWIRE_${flagOf(name).replaceAll("-", "_").toUpperCase()}`;
}

/** True for the name of a setting. */
export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name);
}
