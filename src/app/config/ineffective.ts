import { ENRICHERS, NETWORK_NAMES, type NetworkName } from "../../feeds/index.ts";
import { leaderOf } from "./leader-of.ts";
import type { Layer } from "./resolve.ts";
import type { Config, SettingName } from "./settings.ts";

/** Settings by the market, feed or source that they apply to. */
const RECORDING_SETTINGS: readonly SettingName[] = ["file", "profiles", "group"];
const CHAIN_SETTINGS: readonly SettingName[] = ["chain", "rpc"];
const LIVE_ONLY_SETTINGS: readonly SettingName[] = ["live", ...NETWORK_NAMES.map(rpcOf), "geckoterminalUrl"];
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
  ...ENRICHERS.map(urlOf),
  "record",
  "recordBytes",
];

const POLLING_SETTINGS: readonly SettingName[] = ["pollInterval", "upstreamTimeout"];

const MARKETS: Readonly<Record<Config["feed"], string>> = {
  simulated: "the simulated market",
  replay: "a recorded market",
  exchange: "the exchanges' market",
  chain: "a chain's market",
  live: "the live market",
};

/**
 * Returns a sentence for each given setting that has no effect with the others: its user probably
 * expects something else. Skips environment variables, because one environment serves many runs.
 */
export function ineffective(config: Config, layers: readonly Layer[]): readonly string[] {
  const { source, feed, live, cluster, metrics } = config;
  const idle = (isIdle: boolean, names: readonly SettingName[], reason: string) =>
    (isIdle ? names : []).flatMap((name) => {
      const given = layers.find((layer) => layer.has(name) && !layer.get(name)?.ambient)?.get(name);
      return given ? [`${name} (${given.from}) has no effect ${reason}`] : [];
    });
  const onlyOn = (other: Config["feed"], names: readonly SettingName[]) => {
    const why = `on ${MARKETS[feed]}: it applies to ${MARKETS[other]}`;
    return idle(feed !== other, names, `${why}; leave it out, or set feed to ${other}`);
  };
  const isReal = feed !== "simulated" && feed !== "replay";
  const hasKeys = config.keys !== undefined || config.jwtIssuer !== undefined;
  const withSource = `with source = ${source}: it applies to`;
  const noEngine = `${withSource} the embedded engine; leave it out, or set source to engine`;
  const unnamed = ENRICHERS.filter((name) => !config.enrich.includes(name)).map(urlOf);
  const noEnricher = "while enrich does not name the service; leave it out, or add it to enrich";
  const noPart = "while live does not include its part; leave it out, or add the part to live";
  const ofMarket = () => [
    ...idle(config.record === "none", ["recordBytes"], "without record; leave it out, or set record"),
    ...idle(true, unnamed, noEnricher),
    ...onlyOn("simulated", ["seed"]),
    ...onlyOn("replay", [...RECORDING_SETTINGS, "loop"]),
    ...idle(isReal, ["speed"], "on a live market, which runs in real time; leave it out"),
    ...(feed === "live" ? [] : onlyOn("exchange", EXCHANGE_SETTINGS)),
    ...onlyOn("chain", CHAIN_SETTINGS),
    ...onlyOn("live", LIVE_ONLY_SETTINGS),
    ...idle(feed === "live", leftOutOf(live), noPart),
  ];
  const isFollowing = leaderOf(config) !== undefined;
  const noPort = "without metricsPort; leave it out, or set metricsPort";
  return [
    ...idle(!hasKeys, ["anonymous"], "without keys; leave it out, or set keys"),
    ...idle(!metrics, ["metricsPort", "metricsHost"], "with metrics = false; leave it out"),
    ...idle(metrics && !Number.isFinite(config.metricsPort), ["metricsHost"], noPort),
    ...(source === "engine" ? ofMarket() : idle(true, ENGINE_SETTINGS, noEngine)),
    ...idle(isFollowing, POLLING_SETTINGS, `${withSource} a polled service; leave it out`),
    ...idle(cluster === "none", ["clusterName"], "without cluster; leave it out, or set cluster"),
    ...idle(cluster !== "none", ["push"], "with cluster: it works in one process; leave it out"),
  ];
}

function urlOf(name: (typeof ENRICHERS)[number]) {
  return `${name}Url` as const;
}

function rpcOf(name: NetworkName) {
  return `${name}Rpc` as const;
}

/** Settings of the parts that `live` leaves out. */
function leftOutOf(live: Config["live"]): readonly SettingName[] {
  return [
    ...NETWORK_NAMES.filter((name) => !live.includes(name)).map(rpcOf),
    ...(live.includes("exchange") ? [] : EXCHANGE_SETTINGS),
    ...(live.includes("aggregator") ? [] : (["geckoterminalUrl"] as const)),
  ];
}
