import { fileURLToPath } from "node:url";
import { DAY_MS } from "../../base/lib/time/time.ts";
import { GROUPS } from "../../base/model/index.ts";
import {
  directoryOrNone,
  duration,
  existingFile,
  flag,
  integer,
  oneOf,
  orNone,
  type SettingsOf,
  type SettingTable,
  setting,
  size,
} from "../../base/settings/index.ts";
import { NETWORK_NAMES } from "../chain/networks.ts";
import { endpoints, existingRecording, speed } from "./kinds.ts";
import type { LIVE_SETTINGS } from "./live-settings.ts";

// The same path works from src/feeds/settings and from dist/feeds/settings.
const shipped = (name: string) => fileURLToPath(new URL(`../../../examples/data/${name}`, import.meta.url));

const MIB = 1_048_576;

/** Defaults of the warm-up by market. */
const WARMUPS: Readonly<Record<string, string>> = {
  simulated: "6h",
  shipped: "8h",
  own: "0",
  exchange: "6h",
  chain: "10m",
  live: "10m",
};

/** The market that feeds the engine. */
export const FEED_SETTINGS = {
  feed: setting("feed", oneOf(["simulated", "replay", "exchange", "chain", "live"]), {
    default: (market) => (market === "shipped" || market === "own" ? "replay" : market),
    defaultText: "simulated, or replay if file is given",
    example: "replay",
    description:
      "Market of the engine: simulated, replay (a recording), exchange (spot markets), chain (the markets of one chain), or live (three chains and the exchanges, combined)",
  }),
  chain: setting("chain", oneOf(NETWORK_NAMES), {
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
    default: (market) => WARMUPS[market] ?? "0",
    defaultText:
      "6h for the simulated market and the exchanges, 8h for the shipped day, 10m for chain and live, otherwise 0",
    example: "30m",
    description:
      "Event time to process at full speed at startup, so that the first page is not empty; at most 12h for exchanges. chain and live start at the present and read this much of the past meanwhile, at least 1h of exchanges",
  }),
} as const satisfies SettingTable;

/** Recording of the market. */
export const RECORD_SETTINGS = {
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
} as const satisfies SettingTable;

type Tables = typeof FEED_SETTINGS & typeof LIVE_SETTINGS & typeof RECORD_SETTINGS;

/** The settings of the feeds. */
export type FeedSettings = SettingsOf<Tables>;
