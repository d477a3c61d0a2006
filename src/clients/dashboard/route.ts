import { flarePath, tokenPath } from "../../base/lib/text/page-path.ts";
import { GROUPS, type GroupName, normalizeAddress } from "../../base/model/groups.ts";
import type { AnyFlare, RecordWindow } from "../../base/model/index.ts";
import { groupOf, tokenOf } from "../../base/model/key-of.ts";
import { RANGE_NAMES, type RangeName } from "./state/candles/ranges.ts";
import { DEFAULT_QUERY, type FlareQuery, formatQuery, readQuery } from "./state/flare-query.ts";

/** The page to show, from the part of the address after `#`. */
export type Route =
  | { readonly page: "now" | "finished"; readonly query: FlareQuery }
  | ({ readonly page: "markets" } & MarketChoice)
  | { readonly page: "feed"; readonly hasUpdates: boolean }
  | ({ readonly page: "record" } & RecordChoice)
  | { readonly page: "developers" }
  | ({ readonly page: "token"; readonly group: GroupName; readonly token: string } & RangeChoice);

/** The time that a token's chart shows; `undefined`: around its flare. */
export interface RangeChoice {
  readonly range: RangeName | undefined;
}

/** Which list of tokens the page of markets shows. */
export interface MarketChoice {
  readonly board: Board;
  /** `undefined` for all groups. */
  readonly group: GroupName | undefined;
}

/** Which flares the track record counts. */
export interface RecordChoice {
  readonly group: GroupName;
  readonly window: RecordWindow;
}

export const PAGES = ["now", "finished", "markets", "feed", "record", "developers"] as const;
/** The lists of the page of markets. The first is the default. */
export const BOARDS = ["strongest", "longest", "new"] as const;
export type Board = (typeof BOARDS)[number];
/** Windows of the track record. The first is the default. */
export const RECORD_WINDOWS = ["24h", "7d", "30d"] as const satisfies readonly RecordWindow[];

/** Earlier names of pages, which old links have. */
const OLD_NAMES: Readonly<Record<string, (typeof PAGES)[number]>> = {
  flares: "now",
  newest: "markets",
  charts: "markets",
  leaderboards: "markets",
  events: "feed",
};
const OLD_BOARDS: Readonly<Record<string, Board>> = { newest: "new", leaderboards: "longest" };

/**
 * Parses a hash such as `#/markets?group=bsc`. Unknown pages become the page of what flares now,
 * invalid parameters their defaults. In `#/token/ADDRESS`, the token's group is the default one.
 */
export function readRoute(hash: string): Route {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", first = "", second = first] = path.split("/");
  const text = query.join("?");
  const parameters = new URLSearchParams(text);
  if (name === "token" && second !== "") {
    const range = RANGE_NAMES.find((known) => known === parameters.get("window"));
    const group = GROUPS.find((known) => known === decode(first)) ?? DEFAULT_QUERY.group;
    return { page: name, group, token: normalizeAddress(group, decode(second)), range };
  }
  const page = PAGES.find((known) => known === (OLD_NAMES[name] ?? name)) ?? "now";
  const group = GROUPS.find((known) => known === parameters.get("group"));
  switch (page) {
    case "now":
    case "finished": {
      const read = readQuery(text);
      const isFinished = page === "finished" || read.channel === "flares.finished";
      if (isFinished) return { page: "finished", query: { ...read, channel: "flares.finished" } };
      return { page, query: read };
    }
    case "markets": {
      const board = BOARDS.find((known) => known === parameters.get("board"));
      return { page, board: board ?? OLD_BOARDS[name] ?? BOARDS[0], group };
    }
    case "feed":
      return { page, hasUpdates: parameters.get("updates") === "true" };
    case "record": {
      const window = RECORD_WINDOWS.find((known) => known === parameters.get("window"));
      return { page, group: group ?? DEFAULT_QUERY.group, window: window ?? RECORD_WINDOWS[0] };
    }
    case "developers":
      return { page };
  }
}

/**
 * Returns the hash of a token's page. `token`: its address or, on an exchange, its symbol. `range`:
 * the time whose prices the page shows; default: around its flare.
 */
export function tokenHash(group: GroupName, token: string, range?: RangeName): string {
  const query = range === undefined ? "" : `?window=${range}`;
  return `#/${tokenPath(group, normalizeAddress(group, token))}${query}`;
}

/**
 * Returns a link to a finished flare's page. For a running flare, links to the token's page, which
 * stays current. For a visitor with a key, always links to the token's page, because the link to a
 * flare's page would send no key.
 */
export function flarePageHref(flare: AnyFlare, isAnonymous: boolean): string {
  if (isAnonymous && flare.finished_trending_at !== null) return flarePath(flare.id);
  return tokenHash(groupOf(flare), tokenOf(flare));
}

/**
 * Returns the URL that should replace the hash of a flare, a token, or a page that is unknown or
 * was renamed; `undefined` to leave the hash. For a flare, or a token of an unknown group, returns
 * the path of a page that the server renders; otherwise another hash.
 */
export function canonicalOf(hash: string): string | undefined {
  const [, page, first = "", second] =
    /^#\/(flare|token)\/([^/?]+)(?:\/([^/?]+))?(?:\?.*)?$/.exec(hash) ?? [];
  if (page === "flare" && second === undefined) return flarePath(decode(first));
  const name = /^#\/([^/?]+)/.exec(hash)?.[1];
  const route = readRoute(hash);
  if (name !== undefined && name !== route.page && name !== "flare" && name !== "token") return hashOf(route);
  if (page !== "token") return undefined;
  const isKnown = second === undefined || GROUPS.some((known) => known === decode(first));
  if (!isKnown) return tokenPath(decode(first), decode(second));
  const canonical = hashOf(route);
  return canonical === hash ? undefined : canonical;
}

function hashOf(route: Route): string {
  switch (route.page) {
    case "now":
    case "finished":
      return flaresHash(route.query);
    case "markets":
      return marketsHash(route);
    case "feed":
      return feedHash(route.hasUpdates);
    case "record":
      return recordHash(route);
    case "developers":
      return "#/developers";
    case "token":
      return tokenHash(route.group, route.token, route.range);
  }
}

/** Returns the hash of the page of flares that run now or, for that channel, that are over. */
export function flaresHash(query: FlareQuery): string {
  const isFinished = query.channel === "flares.finished";
  const text = formatQuery(isFinished ? { ...query, channel: DEFAULT_QUERY.channel } : query);
  return `#/${isFinished ? "finished" : "now"}${text === "" ? "" : `?${text}`}`;
}

export function feedHash(hasUpdates: boolean): string {
  return hasUpdates ? "#/feed?updates=true" : "#/feed";
}

export function marketsHash({ board, group }: MarketChoice): string {
  const parameters = new URLSearchParams({
    ...(board !== BOARDS[0] && { board }),
    ...(group !== undefined && { group }),
  });
  return parameters.size === 0 ? "#/markets" : `#/markets?${parameters}`;
}

export function recordHash({ group, window }: RecordChoice): string {
  const parameters = new URLSearchParams({
    ...(group !== DEFAULT_QUERY.group && { group }),
    ...(window !== RECORD_WINDOWS[0] && { window }),
  });
  return parameters.size === 0 ? "#/record" : `#/record?${parameters}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
