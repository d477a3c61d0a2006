import { leaderOf } from "./leader-of.ts";
import type { Layer } from "./resolve.ts";
import type { Config, SettingName } from "./schema/settings.ts";

/** Settings by the market, feed or source that they apply to. */
const RECORDING_SETTINGS: readonly SettingName[] = ["file", "profiles", "group"];
const CHAIN_SETTINGS: readonly SettingName[] = ["chain", "rpc"];
const LIVE_ONLY_SETTINGS: readonly SettingName[] = [
  "live",
  "bscRpc",
  "polygonRpc",
  "avalancheRpc",
  "geckoterminalUrl",
];
const EXCHANGE_SETTINGS: readonly SettingName[] = [
  "exchanges",
  "exchangeQuotes",
  "exchangeVolume",
  "binanceUrl",
  "binanceStreamUrl",
  "kucoinUrl",
  "gateUrl",
  "gateStreamUrl",
];
const ENRICHER_SETTINGS: readonly SettingName[] = [
  "coingeckoUrl",
  "sourcifyUrl",
  "etherscanUrl",
  "dexscreenerUrl",
];
const ENGINE_SETTINGS: readonly SettingName[] = [
  "feed",
  "seed",
  ...RECORDING_SETTINGS,
  "speed",
  "loop",
  "warmup",
  ...CHAIN_SETTINGS,
  ...LIVE_ONLY_SETTINGS,
  ...EXCHANGE_SETTINGS,
  "enrich",
  ...ENRICHER_SETTINGS,
  "record",
  "recordBytes",
];

const POLLING_SETTINGS: readonly SettingName[] = ["pollInterval", "upstreamTimeout"];

const NO_RECORD = "has no effect without record; leave it out, or set record";

/**
 * Reports each given setting that the others make ineffective: its user expects another market.
 * Environment variables are skipped, because one environment serves many runs.
 */
export function ineffective(config: Config, layers: readonly Layer[]): readonly string[] {
  return [
    ...idleWithoutKeys(config, layers),
    ...idleWithoutMetrics(config, layers),
    ...idleForMarket(config, layers),
    ...idleInCluster(config, layers),
    ...idlePush(config, layers),
  ];
}

function idleInCluster({ cluster }: Config, layers: readonly Layer[]): readonly string[] {
  if (cluster !== "none") return [];
  return idle(["clusterName"], layers, "has no effect without cluster; leave it out, or set cluster");
}

function idlePush({ cluster, workers }: Config, layers: readonly Layer[]): readonly string[] {
  if (cluster === "none" && workers === 1) return [];
  return idle(
    ["push"],
    layers,
    "has no effect with workers or cluster: it works in one process; leave it out",
  );
}

function idleWithoutKeys({ keys, jwtIssuer }: Config, layers: readonly Layer[]): readonly string[] {
  if (keys !== undefined || jwtIssuer !== undefined) return [];
  const why = "has no effect without keys; leave it out, or set keys";
  return idle(["anonymous"], layers, why);
}

function idleWithoutMetrics({ metrics, metricsPort }: Config, layers: readonly Layer[]): readonly string[] {
  const unserved = "has no effect with metrics = false; leave it out";
  if (!metrics) return idle(["metricsPort", "metricsHost"], layers, unserved);
  if (Number.isFinite(metricsPort)) return [];
  return idle(["metricsHost"], layers, "has no effect without metricsPort; leave it out, or set metricsPort");
}

function idleForMarket(config: Config, layers: readonly Layer[]): readonly string[] {
  const { source, feed } = config;
  if (leaderOf(config) !== undefined) {
    const why = `has no effect with source = ${source}: it applies to a polled service`;
    return [...idleWithoutEngine(source, layers), ...idle(POLLING_SETTINGS, layers, `${why}; leave it out`)];
  }
  if (source !== "engine") {
    return idleWithoutEngine(source, layers);
  }
  const recorded = config.record === "none" ? idle(["recordBytes"], layers, NO_RECORD) : [];
  const unused = ENRICHER_SETTINGS.filter((name) => !config.enrich.some((one) => name === `${one}Url`));
  return [
    ...recorded,
    ...idle(
      unused,
      layers,
      "has no effect while enrich does not name the service; leave it out, or add it to enrich",
    ),
    ...(feed === "simulated" ? [] : idleOn(feed, "simulated", ["seed"], layers)),
    ...(feed === "replay" ? [] : idleOn(feed, "replay", [...RECORDING_SETTINGS, "loop"], layers)),
    ...(feed === "exchange" || feed === "chain" || feed === "live"
      ? idle(["speed"], layers, "has no effect on a live market, which runs in real time; leave it out")
      : []),
    ...(feed === "exchange" || feed === "live" ? [] : idleOn(feed, "exchange", EXCHANGE_SETTINGS, layers)),
    ...(feed === "chain" ? [] : idleOn(feed, "chain", CHAIN_SETTINGS, layers)),
    ...(feed === "live" ? idleInLive(config, layers) : idleOn(feed, "live", LIVE_ONLY_SETTINGS, layers)),
  ];
}

const MARKETS: Readonly<Record<Config["feed"], string>> = {
  simulated: "the simulated market",
  replay: "a recorded market",
  exchange: "the exchanges' market",
  chain: "a chain's market",
  live: "the live market",
};

/** Settings of a part that `live` leaves out. */
function idleInLive({ live }: Config, layers: readonly Layer[]): readonly string[] {
  const chains = ["bsc", "polygon", "avalanche"] as const;
  const names = [
    ...chains.flatMap((name) => (live.includes(name) ? [] : [`${name}Rpc` as const])),
    ...(live.includes("exchange") ? [] : EXCHANGE_SETTINGS),
    ...(live.includes("aggregator") ? [] : (["geckoterminalUrl"] as const)),
  ];
  return idle(
    names,
    layers,
    "has no effect while live leaves out its part; leave it out, or add the part to live",
  );
}

/** Settings that apply to another feed only. */
function idleOn(
  feed: Config["feed"],
  other: Config["feed"],
  names: readonly SettingName[],
  layers: readonly Layer[],
): readonly string[] {
  const why = `has no effect on ${MARKETS[feed]}: it applies to ${MARKETS[other]}`;
  return idle(names, layers, `${why}; leave it out, or set feed to ${other}`);
}

function idleWithoutEngine(source: string, layers: readonly Layer[]): readonly string[] {
  const why = `has no effect with source = ${source}: it applies to the embedded engine`;
  return idle(ENGINE_SETTINGS, layers, `${why}; leave it out, or set source to engine`);
}

function idle(names: readonly SettingName[], layers: readonly Layer[], reason: string): readonly string[] {
  return names.flatMap((name) => {
    const given = layers.find((layer) => layer.has(name) && !layer.get(name)?.ambient)?.get(name);
    return given ? [`${name} (${given.from}) ${reason}`] : [];
  });
}
