import { MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import { foldAddress, GROUPS, type GroupName } from "../../../base/model/groups.ts";
import type { FinishCause } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import type { FlareLists } from "./group/flare-lists.ts";

/** The lists of flares, by the channel that serves each for `bsc`. */
export const LIST_OF_CHANNEL = {
  "flares.pro": "pro",
  "flares.free": "free",
  "flares.finished": "finished_trending",
} as const;
export type FlareChannel = keyof typeof LIST_OF_CHANNEL;
const CHANNELS = Object.keys(LIST_OF_CHANNEL) as FlareChannel[];

/** The columns by which a table of flares can be sorted. */
export const ORDERS = [
  "newest",
  "change",
  "score",
  "liquidity",
  "since",
  "hour",
  "volume",
  "trades",
  "odds",
] as const;
export type Order = (typeof ORDERS)[number];

export const FINISH_CAUSES = Object.keys(END_TEXTS) as FinishCause[];

/**
 * What the page of flares shows. The page's address contains it, under the API's parameter names
 * where they exist.
 */
export interface FlareQuery {
  readonly group: GroupName;
  readonly channel: FlareChannel;
  /** Part of a symbol, name or address or, on an exchange, of a symbol, name, pair or exchange. */
  readonly search: string;
  readonly order: Order;
  readonly hidesWarned: boolean;
  /** In US dollars; `undefined` for no minimum. */
  readonly minLiquidity: number | undefined;
  /** In percent within five minutes; `undefined` for no minimum. */
  readonly minPriceChange: number | undefined;
  /** Of the token at the flare's start, in seconds; `undefined` for no minimum. */
  readonly minAge: number | undefined;
  /** Share of liquidity burned or locked for more than an hour; `undefined` for no minimum. */
  readonly minLocked: number | undefined;
  /** Addresses or, on an exchange, symbols, in lower case; empty for all. */
  readonly tokens: readonly string[];
  /** Symbols or, on an exchange, symbols or pairs, in lower case; empty for all. */
  readonly symbols: readonly string[];
  /** Why the finished flares ended; `undefined` for any cause. Other lists ignore it. */
  readonly cause: FinishCause | undefined;
  /** A past minute whose flares are shown; `undefined` for now. */
  readonly at: string | undefined;
}

export const DEFAULT_QUERY: FlareQuery = {
  group: "bsc",
  channel: "flares.pro",
  search: "",
  order: "newest",
  hidesWarned: false,
  minLiquidity: undefined,
  minPriceChange: undefined,
  minAge: undefined,
  minLocked: undefined,
  tokens: [],
  symbols: [],
  cause: undefined,
  at: undefined,
};

/**
 * Reads a query. Ignores unknown and invalid parameters, because a link may come from anyone. For
 * exchanges, ignores parameters of liquidity, because exchanges report none.
 */
export function readQuery(text: string): FlareQuery {
  const parameters = new URLSearchParams(text);
  const oneOf = <T extends string>(name: string, known: readonly T[], fallback: T): T =>
    known.find((value) => value === parameters.get(name)) ?? fallback;
  const group = oneOf("group", GROUPS, DEFAULT_QUERY.group);
  const hasLiquidity = group !== "exchange";
  const orders = ORDERS.filter((order) => hasLiquidity || order !== "liquidity");
  return {
    group,
    channel:
      CHANNELS.find((channel) => channelOf({ group, channel }) === parameters.get("channels")) ??
      DEFAULT_QUERY.channel,
    search: (parameters.get("search") ?? "").slice(0, 200),
    order: oneOf("order", orders, DEFAULT_QUERY.order),
    hidesWarned: parameters.get("warnings") === "none",
    minLiquidity: hasLiquidity ? numberOf(parameters.get("min_liquidity"), 0) : undefined,
    minPriceChange: numberOf(parameters.get("min_price_change"), Number.NEGATIVE_INFINITY),
    minAge: numberOf(parameters.get("min_age"), 0),
    minLocked: hasLiquidity ? shareOf(parameters.get("min_locked")) : undefined,
    tokens: listOf(parameters.get("tokens"), foldAddress),
    symbols: listOf(parameters.get("symbols"), (name) => name.toLowerCase()),
    cause: FINISH_CAUSES.find((cause) => cause === parameters.get("cause")),
    at: minuteOf(Date.parse(parameters.get("at") ?? "")),
  };
}

/** Returns the channel that serves the list for the group, such as `flares.exchange.pro`. */
export function channelOf({ group, channel }: Pick<FlareQuery, "group" | "channel">): string {
  return group === "bsc" ? channel : channel.replace(".", `.${group}.`);
}

/** Returns the channels whose lists the visitor may see. */
function visibleChannels(lists: FlareLists): readonly FlareChannel[] {
  return CHANNELS.filter((channel) => lists.flares?.[LIST_OF_CHANNEL[channel]]);
}

/**
 * Returns the query with the channel that the page shows for it: another one if the visitor may not
 * see its list. Without lists, returns the query.
 */
export function shownQuery(query: FlareQuery, lists: FlareLists | Error | undefined): FlareQuery {
  if (!lists || lists instanceof Error) return query;
  const visible = visibleChannels(lists);
  if (visible.includes(query.channel)) return query;
  return { ...query, channel: visible[0] ?? "flares.free" };
}

/** Formats the query as parameters of a URL, without those that have their default value. */
export function formatQuery(query: FlareQuery): string {
  const parameters = new URLSearchParams();
  if (query.group !== DEFAULT_QUERY.group) parameters.set("group", query.group);
  if (query.channel !== DEFAULT_QUERY.channel) parameters.set("channels", channelOf(query));
  for (const [name, value] of Object.entries(parametersOf(query))) parameters.set(name, String(value));
  if (query.search !== "") parameters.set("search", query.search);
  if (query.hidesWarned) parameters.set("warnings", "none");
  if (query.cause !== undefined) parameters.set("cause", query.cause);
  if (query.order !== DEFAULT_QUERY.order) parameters.set("order", query.order);
  if (query.at !== undefined) parameters.set("at", query.at);
  return parameters.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** A filter under the API's names. */
interface ApiFilter {
  readonly tokens?: readonly string[];
  readonly symbols?: readonly string[];
  readonly min_liquidity?: number;
  readonly min_price_change?: number;
  readonly min_age?: number;
  readonly min_locked?: number;
}

/** Returns the part of the query that the API can filter by. */
export function filterOf(query: FlareQuery): ApiFilter {
  const { tokens, ...others } = parametersOf(query);
  if (tokens === undefined) return others;
  // The API identifies tokens by address. Tokens of an exchange have only a symbol.
  return query.group === "exchange" ? { ...others, symbols: tokens } : { ...others, tokens };
}

/** Returns the same part as parameters of the page's address. */
function parametersOf(query: FlareQuery): ApiFilter {
  const { tokens, symbols, minLiquidity, minPriceChange, minAge, minLocked } = query;
  return {
    ...(tokens.length > 0 && { tokens }),
    ...(symbols.length > 0 && { symbols }),
    ...(minLiquidity !== undefined && { min_liquidity: minLiquidity }),
    ...(minPriceChange !== undefined && { min_price_change: minPriceChange }),
    ...(minAge !== undefined && { min_age: minAge }),
    ...(minLocked !== undefined && { min_locked: minLocked }),
  };
}

/**
 * Formats the minute that contains `atMs` as the API's `at`; `undefined` if `atMs` is not a valid
 * time.
 */
export function minuteOf(atMs: number): string | undefined {
  const minute = new Date(startOf(MINUTE_MS, atMs));
  return Number.isNaN(minute.getTime()) ? undefined : `${minute.toISOString().slice(0, 16)}Z`;
}

function shareOf(text: string | null): number | undefined {
  const share = numberOf(text, 0);
  return share !== undefined && share <= 1 ? share : undefined;
}

function numberOf(text: string | null, min: number): number | undefined {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= min ? value : undefined;
}

/**
 * Parses comma-separated names in their folded form, each once. Omits names over 64 characters, the
 * API's limit for symbols, and names after the first 64, its limit for a list.
 */
function listOf(text: string | null, fold: (name: string) => string): readonly string[] {
  const names = (text ?? "").split(",").map((name) => fold(name.trim()));
  return [...new Set(names)].filter((name) => name !== "" && name.length <= 64).slice(0, 64);
}
