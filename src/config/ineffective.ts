import { leaderOf } from "./leader-of.ts";
import type { Layer } from "./resolve.ts";
import type { Config, SettingName } from "./schema/settings.ts";

/** What only a recorded market has, what only that of a chain, what only all live ones as one, what only that of the exchanges, and what only the embedded engine does. */
const OF_A_RECORDING: readonly SettingName[] = ["file", "profiles", "group"];
const OF_A_CHAIN: readonly SettingName[] = ["chain", "rpc"];
const OF_LIVE: readonly SettingName[] = ["live", "bscRpc", "polygonRpc", "avalancheRpc"];
const OF_EXCHANGES: readonly SettingName[] = [
  "exchanges",
  "exchangeQuotes",
  "exchangeVolume",
  "binanceUrl",
  "binanceStreamUrl",
  "kucoinUrl",
  "gateUrl",
  "gateStreamUrl",
];
const OF_ENRICHERS: readonly SettingName[] = [
  "coingeckoUrl",
  "sourcifyUrl",
  "etherscanUrl",
  "dexscreenerUrl",
];
const OF_THE_ENGINE: readonly SettingName[] = [
  "feed",
  "seed",
  ...OF_A_RECORDING,
  "speed",
  "loop",
  "warmup",
  ...OF_A_CHAIN,
  ...OF_LIVE,
  ...OF_EXCHANGES,
  "enrich",
  ...OF_ENRICHERS,
  "record",
  "recordBytes",
];

/** What only a service that is polled needs. */
const OF_POLLING: readonly SettingName[] = ["pollInterval", "upstreamTimeout"];

const NO_RECORD = "has no effect where nothing is recorded; leave it out, or set record";

/**
 * A sentence for each setting that was given by flag or file, or by the program that embeds Flarewire, and that the rest makes idle: whoever
 * gave it expects a market that will not come. Variables are left out, since an environment serves more than one run.
 */
export function ineffective(config: Config, layers: readonly Layer[]): readonly string[] {
  return [...idleWithoutKeys(config, layers), ...idleForMarket(config, layers)];
}

function idleWithoutKeys({ keys }: Config, layers: readonly Layer[]): readonly string[] {
  if (keys !== undefined) return [];
  const why = "has no effect without a file of keys; leave it out, or set keys";
  return told(["anonymous"], layers, why);
}

function idleForMarket(config: Config, layers: readonly Layer[]): readonly string[] {
  const { source, feed } = config;
  if (leaderOf(config) !== undefined) {
    const why = `has no effect with source = ${source}: it is for a service that is polled`;
    return [...ofTheEngine(source, layers), ...told(OF_POLLING, layers, `${why}; leave it out`)];
  }
  if (source !== "engine") {
    return ofTheEngine(source, layers);
  }
  const recorded = config.record === "none" ? told(["recordBytes"], layers, NO_RECORD) : [];
  const unasked = OF_ENRICHERS.filter((name) => !config.enrich.some((one) => name === `${one}Url`));
  return [
    ...recorded,
    ...told(unasked, layers, "has no effect on who is not asked; leave it out, or add it to enrich"),
    ...(feed === "simulated" ? [] : idleOn(feed, "simulated", ["seed"], layers)),
    ...(feed === "replay" ? [] : idleOn(feed, "replay", [...OF_A_RECORDING, "loop"], layers)),
    ...(feed === "exchange" || feed === "chain" || feed === "live"
      ? told(["speed"], layers, "has no effect on a live market, which has its own; leave it out")
      : []),
    ...(feed === "exchange" || feed === "live" ? [] : idleOn(feed, "exchange", OF_EXCHANGES, layers)),
    ...(feed === "chain" ? [] : idleOn(feed, "chain", OF_A_CHAIN, layers)),
    ...(feed === "live" ? idleInLive(config, layers) : idleOn(feed, "live", OF_LIVE, layers)),
  ];
}

const MARKETS: Readonly<Record<Config["feed"], readonly [market: string, one: string]>> = {
  simulated: ["the simulated market", "the simulated one"],
  replay: ["a recorded market", "a recorded one"],
  exchange: ["the exchanges' market", "that of the exchanges"],
  chain: ["a chain's market", "that of a chain"],
  live: ["the live market", "the live one"],
};

/** What is for a part that is left out. */
function idleInLive({ live }: Config, layers: readonly Layer[]): readonly string[] {
  const chains = ["bsc", "polygon", "avalanche"] as const;
  const names = [
    ...chains.flatMap((name) => (live.includes(name) ? [] : [`${name}Rpc` as const])),
    ...(live.includes("exchange") ? [] : OF_EXCHANGES),
  ];
  return told(
    names,
    layers,
    "has no effect on a part that live leaves out; leave it out too, or add the part to live",
  );
}

/** What is for another feed only. */
function idleOn(
  feed: Config["feed"],
  other: Config["feed"],
  names: readonly SettingName[],
  layers: readonly Layer[],
): readonly string[] {
  const why = `has no effect on ${MARKETS[feed][0]}: it is for ${MARKETS[other][1]}`;
  return told(names, layers, `${why}; leave it out, or set feed to ${other}`);
}

function ofTheEngine(source: string, layers: readonly Layer[]): readonly string[] {
  const why = `has no effect with source = ${source}: it is for the embedded engine's market`;
  return told(OF_THE_ENGINE, layers, `${why}; leave it out, or set source to engine`);
}

function told(names: readonly SettingName[], layers: readonly Layer[], words: string): readonly string[] {
  return names.flatMap((name) => {
    const given = layers.find((layer) => layer.has(name) && !layer.get(name)?.ambient)?.get(name);
    return given ? [`${name} (${given.from}) ${words}`] : [];
  });
}
