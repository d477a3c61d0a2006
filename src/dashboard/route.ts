import { GROUP_NAMES, type GroupName } from "../lib/text/group-labels.ts";
import { flarePath, tokenPath } from "../lib/text/page-path.ts";
import type { AnyFlare, RecordWindow } from "../model/index.ts";
import { groupOf, tokenOf } from "../model/key-of.ts";
import { RANGE_NAMES, type RangeName } from "./state/candles/ranges.ts";
import { DEFAULT_QUERY, type FlareQuery, formatQuery, readQuery } from "./state/flare-query.ts";

/** The page to show, from the part of the address after `#`. */
export type Route =
  | { readonly page: "flares"; readonly query: FlareQuery }
  | { readonly page: "charts" | "leaderboards"; readonly group: GroupName | undefined }
  | { readonly page: "newest" }
  | { readonly page: "record"; readonly window: RecordWindow }
  | { readonly page: "events"; readonly hasUpdates: boolean }
  | { readonly page: "token"; readonly address: string; readonly range: RangeName };

export const PAGES = ["flares", "newest", "charts", "leaderboards", "events", "record"] as const;
/** Only tokens of this group have a page here. */
const FLARING_GROUP = "bsc";
/** Windows of the track record, the default one first. */
export const RECORD_WINDOWS = ["24h", "7d", "30d"] as const satisfies readonly RecordWindow[];

/** Parses `#/charts?group=bsc`. Defaults to the first page. */
export function readRoute(hash: string): Route {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", first = "", second = first] = path.split("/");
  const given = new URLSearchParams(query.join("?"));
  if (name === "token" && second !== "") {
    const range = RANGE_NAMES.find((known) => known === given.get("window")) ?? RANGE_NAMES[0];
    return { page: name, address: decode(second).toLowerCase(), range };
  }
  const page = PAGES.find((known) => known === name) ?? "flares";
  if (page === "flares") return { page, query: readQuery(query.join("?")) };
  if (page === "newest") return { page };
  if (page === "events") return { page, hasUpdates: given.get("updates") === "true" };
  if (page === "record")
    return {
      page,
      window: RECORD_WINDOWS.find((known) => known === given.get("window")) ?? RECORD_WINDOWS[0],
    };
  return { page, group: GROUP_NAMES.find((known) => known === given.get("group")) };
}

/** `range`: of the prices that the token's page shows. */
export function tokenHash(address: string, range: RangeName = RANGE_NAMES[0]): string {
  const query = range === RANGE_NAMES[0] ? "" : `?window=${range}`;
  return `#/${tokenPath(FLARING_GROUP, address.toLowerCase())}${query}`;
}

/** Returns the page of a token, by address or symbol. Those of other groups are the server's. */
export function tokenHref(group: GroupName, key: string): string {
  return group === FLARING_GROUP ? tokenHash(key) : tokenPath(group, key);
}

/**
 * Returns the page of a finished flare; for a running one its token's, which stays current. A link
 * to the server sends no key: with one, a flare of another group leads to the list with its token.
 */
export function flarePageHref(flare: AnyFlare, isAnonymous: boolean): string {
  const group = groupOf(flare);
  if (isAnonymous && flare.finished_trending_at !== null) return flarePath(flare.id);
  const href = tokenHref(group, tokenOf(flare));
  if (isAnonymous || href.startsWith("#")) return href;
  const channel = flare.finished_trending_at === null ? DEFAULT_QUERY.channel : "flares.finished";
  return flaresHash({ ...DEFAULT_QUERY, group, channel, search: flare.token.symbol });
}

/**
 * Returns the URL that a hash is another spelling of; `undefined` if it is canonical. Tokens of
 * other groups and flares have pages of the server only.
 */
export function canonicalOf(hash: string): string | undefined {
  const [, page, first = "", second] =
    /^#\/(flare|token)\/([^/?]+)(?:\/([^/?]+))?(?:\?.*)?$/.exec(hash) ?? [];
  if (page === "flare" && second === undefined) return flarePath(decode(first));
  if (page !== "token") return undefined;
  const key = decode(second ?? first);
  if (second !== undefined && decode(first) !== FLARING_GROUP) return tokenPath(decode(first), key);
  const route = readRoute(hash);
  const canonical = tokenHash(key, route.page === "token" ? route.range : undefined);
  return canonical === hash ? undefined : canonical;
}

export function flaresHash(query: FlareQuery): string {
  const text = formatQuery(query);
  return text === "" ? "#/flares" : `#/flares?${text}`;
}

export function eventsHash(hasUpdates: boolean): string {
  return hasUpdates ? "#/events?updates=true" : "#/events";
}

export function recordHash(window: RecordWindow): string {
  return window === RECORD_WINDOWS[0] ? "#/record" : `#/record?window=${window}`;
}

/** The address of a page whose groups can be chosen. */
export function groupHash(page: "charts" | "leaderboards", group: GroupName | undefined): string {
  return group === undefined ? `#/${page}` : `#/${page}?group=${group}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
