import { resolve } from "node:path";
import { suggestion } from "../../base/lib/text/nearest.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import type { Setting } from "../../base/settings/index.ts";
import { FEEDS } from "../feeds.ts";
import { marketOf } from "../market.ts";
import { sharedLogOf } from "../shared-logs.ts";
import { leaderOf } from "./leader-of.ts";
import { redact, redactEndpoints } from "./redact.ts";
import { type Config, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";

/** A value as given, and its origin. */
export interface GivenValue {
  readonly value: unknown;
  /** In words: `flag --port`, `environment FLAREWIRE_PORT`, `port in ./flarewire.json`. */
  readonly from: string;
  /** Base of relative paths. */
  readonly directory: string;
  /**
   * From the environment or the command's defaults. It is not a mistake if such a value has no
   * effect.
   */
  readonly ambient?: boolean;
}

export type Layer = ReadonlyMap<string, GivenValue>;

/**
 * Builds the Config from layers, strongest first, checking only the winning values. Throws
 * `invalid-setting` that lists all mistakes: the earlier `problems`, and `objections` to an
 * otherwise valid Config.
 */
export function resolveConfig(
  layers: readonly Layer[],
  problems: readonly string[],
  objections: (config: Config, layers: readonly Layer[]) => readonly string[] = () => [],
): Config {
  const wrong = [...problems];
  const defaults = marketDefaults(layers);
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const given = layers.find((layer) => layer.has(name))?.get(name);
    const read = given ? readGiven(name, given) : { value: defaultOf(name, defaults[name]) };
    if ("problem" in read) wrong.push(read.problem);
    else values[SETTINGS[name].field] = deepFreeze(read.value);
  }
  if (wrong.length === 0) {
    const config = Object.freeze(values) as Config;
    wrong.push(...contradictions(config), ...objections(config, layers));
    if (wrong.length === 0) return config;
  }
  const head = wrong.length === 1 ? "a setting is invalid" : `${wrong.length} settings are invalid`;
  throw new FlarewireError("invalid-setting", [head, ...wrong.map((line) => `  ${line}`)].join("\n"));
}

/** Describes a value outside its bound: setting, value, origin, bound and example. */
function badValue(name: SettingName, { value, from }: GivenValue): string {
  const { bound, example, url, names = [] }: Setting = SETTINGS[name];
  const items = typeof value === "string" ? value.split(",") : [value].flat();
  const wrong = items.map((item) => String(item).trim()).find((item) => !names.includes(item));
  const near = wrong === undefined ? "" : suggestion(wrong, names);
  return `${name} = ${shorten(value, url)} (${from})${near} must be ${bound}, for example ${example}`;
}

function readGiven(
  name: SettingName,
  given: GivenValue,
): { readonly value: unknown } | { readonly problem: string } {
  const { schema, path, words = [], objection }: Setting = SETTINGS[name];
  const located =
    path && typeof given.value === "string" && given.value !== "" && !words.includes(given.value)
      ? resolve(given.directory, given.value)
      : given.value;
  const read = schema.safeParse(located);
  if (read.success) return { value: read.data };
  const objected = objection?.(located);
  const problem =
    objected === undefined
      ? badValue(name, given)
      : `${name} = ${shorten(given.value)} (${given.from}) ${objected}`;
  return { problem };
}

/**
 * Returns the defaults of the market to serve, which is the one that `feed` names or that another
 * setting implies, and otherwise the first.
 */
function marketDefaults(layers: readonly Layer[]): Readonly<Record<string, string>> {
  const valueFor = (name: string) => layers.find((layer) => layer.has(name))?.get(name)?.value;
  const isGiven = (name: string) => valueFor(name) !== undefined;
  const feed = valueFor("feed");
  const markets = FEEDS.filter(({ market }) => market);
  const named = markets.find(({ name }) => name === feed);
  const implied = markets.find(({ market }) => market?.impliedBy !== undefined && isGiven(market.impliedBy));
  const chosen = feed === undefined ? (implied ?? markets[0]) : named;
  return chosen?.market ? { feed: chosen.name, ...chosen.market.defaults(isGiven) } : {};
}

function defaultOf(name: SettingName, ofMarket: string | undefined): unknown {
  const { default: preset, schema, path }: Setting = SETTINGS[name];
  const text = ofMarket ?? preset;
  return text === undefined || path ? text : schema.parse(text);
}

/** Returns the problems of settings that a gateway with a shared log cannot have. */
function sharedContradictions(config: Config): readonly string[] {
  const log = sharedLogOf(config);
  if (!log || leaderOf(config) === undefined) return [];
  return [`with ${log.name}, source must not follow another server`];
}

/**
 * Tokens need one source of keys, and an issuer and audience. A token from another issuer or for
 * another service must not be accepted (RFC 8725, 3.8 and 3.9).
 */
function tokenContradictions({ jwtKey, jwksUrl, jwtIssuer, jwtAudience }: Config): readonly string[] {
  const given = [jwtKey, jwksUrl, jwtIssuer, jwtAudience].filter((value) => value !== undefined);
  if (given.length === 0) return [];
  if ((jwtKey === undefined) !== (jwksUrl === undefined) && given.length === 3) return [];
  return ["tokens need jwtIssuer, jwtAudience, and either jwtKey or jwksUrl"];
}

/** Returns the problems of settings that are valid one by one, but not together. */
function contradictions(config: Config): readonly string[] {
  const isTlsHalf = (config.tlsCert === undefined) !== (config.tlsKey === undefined);
  const apart = [
    ...sharedContradictions(config),
    ...tokenContradictions(config),
    ...(isTlsHalf ? ["TLS needs both tlsCert and tlsKey"] : []),
  ];
  if (apart.length > 0) return apart;
  const { source } = config;
  if (leaderOf(config) !== undefined) return [];
  const problems =
    source === "engine"
      ? [marketOf(config).problem?.(config)]
      : FEEDS.map(({ polled }) => polled?.problem(config));
  return problems.filter((problem) => problem !== undefined);
}

function shorten(value: unknown, url: Setting["url"] = false): string {
  const shown = (part: string) => (url === "endpoint" ? redactEndpoints(part) : redact(part, url));
  // No setting has parts with names, so one of them may be a password.
  const mask = (key: string, part: unknown) =>
    /\D/.test(key) ? "***" : typeof part === "string" ? shown(part) : part;
  const text = JSON.stringify(value, mask) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(deepFreeze);
  return Object.freeze(value);
}
