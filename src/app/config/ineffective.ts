import type { IdleSettings } from "../../feeds/index.ts";
import { FEEDS, MARKET_SETTINGS } from "../feeds.ts";
import { marketOf } from "../market.ts";
import { SHARED_LOGS } from "../shared-logs.ts";
import { leaderOf } from "./leader-of.ts";
import type { Layer } from "./resolve.ts";
import type { Config } from "./settings.ts";

const namesOf = (kinds: typeof FEEDS) => kinds.flatMap(({ settings }) => Object.keys(settings));
const ENGINE_SETTINGS = [...Object.keys(MARKET_SETTINGS), ...namesOf(FEEDS.filter(({ polled }) => !polled))];
const POLLING_SETTINGS = namesOf(FEEDS.filter(({ polled }) => polled));

/**
 * Returns a sentence for each given setting that has no effect with the others: its user probably
 * expects something else. Skips environment variables, because one environment serves many runs.
 */
export function ineffective(config: Config, layers: readonly Layer[]): readonly string[] {
  const { source, metrics } = config;
  const idle = (isIdle: boolean, names: readonly string[], reason: string) =>
    (isIdle ? names : []).flatMap((name) => {
      const given = layers.find((layer) => layer.has(name) && !layer.get(name)?.ambient)?.get(name);
      return given ? [`${name} (${given.from}) has no effect ${reason}`] : [];
    });
  const hasKeys = config.keys !== undefined || config.jwtIssuer !== undefined;
  const withSource = `with source = ${source}: it applies to`;
  const noEngine = `${withSource} the embedded engine; leave it out, or set source to engine`;
  const isFollowing = leaderOf(config) !== undefined;
  const noPort = "without metricsPort; leave it out, or set metricsPort";
  return [
    ...idle(!hasKeys, ["anonymous"], "without keys; leave it out, or set keys"),
    ...idle(!metrics, ["metricsPort", "metricsHost"], "with metrics = false; leave it out"),
    ...idle(metrics && !Number.isFinite(config.metricsPort), ["metricsHost"], noPort),
    ...(source === "engine"
      ? idleOfMarket(config).flatMap(({ names, reason }) => idle(true, names, reason))
      : idle(true, ENGINE_SETTINGS, noEngine)),
    ...idle(isFollowing, POLLING_SETTINGS, `${withSource} a polled service; leave it out`),
    ...SHARED_LOGS.flatMap((log) => {
      const others = Object.keys(log.settings).filter((name) => name !== log.name);
      const isOn = log.isOn(config);
      return [
        ...idle(!isOn, others, `without ${log.name}; leave it out, or set ${log.name}`),
        ...idle(isOn, ["push"], `with ${log.name}: it works in one process; leave it out`),
      ];
    }),
  ];
}

/** Returns the settings that have no effect on the config's market, and why. */
function idleOfMarket(config: Config): readonly IdleSettings[] {
  const own = marketOf(config);
  const known = new Set(own.settings);
  const ofOthers = FEEDS.flatMap(({ name, market }) => {
    if (!market) return [];
    const names = market.settings.filter((setting) => !known.has(setting));
    // Some apply to several markets. The first one is named.
    for (const setting of names) known.add(setting);
    const reason = `on ${own.title}: it applies to ${market.title}; leave it out, or set feed to ${name}`;
    return [{ names, reason }];
  });
  return [
    ...FEEDS.flatMap(({ layer }) => layer?.idle(config) ?? []),
    ...ofOthers,
    ...(own.isRealTime
      ? [{ names: ["speed"], reason: "on a live market, which runs in real time; leave it out" }]
      : []),
    ...(own.idle?.(config) ?? []),
  ];
}
