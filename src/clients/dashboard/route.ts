import { flarePath, tokenPath } from "../../base/lib/text/page-path.ts";
import { GROUPS, type GroupName, normalizeAddress } from "../../base/model/groups.ts";
import type { AnyFlare, RecordWindow } from "../../base/model/index.ts";
import { groupOf, tokenOf } from "../../base/model/key-of.ts";
import { RANGE_NAMES, type RangeName } from "./state/candles/ranges.ts";
import { DEFAULT_QUERY, type FlareQuery, formatQuery, readQuery } from "./state/flare-query.ts";

/** The page to show, from the part of the address after `#`. */
export type Route =
  | { readonly page: "flares"; readonly query: FlareQuery }
  | { readonly page: "charts" | "leaderboards"; readonly group: GroupName | undefined }
  | { readonly page: "newest" }
  | ({ readonly page: "record" } & RecordChoice)
  | { readonly page: "events"; readonly hasUpdates: boolean }
  | ({ readonly page: "token"; readonly group: GroupName; readonly token: string } & RangeChoice);

/** The time that a token's chart shows; `undefined`: around its flare. */
export interface RangeChoice {
  readonly range: RangeName | undefined;
}

/** Which flares the track record counts. */
export interface RecordChoice {
  readonly group: GroupName;
  readonly window: RecordWindow;
}

export const PAGES = ["flares", "newest", "charts", "leaderboards", "events", "record"] as const;
/** Windows of the track record. The first is the default. */
export const RECORD_WINDOWS = ["24h", "7d", "30d"] as const satisfies readonly RecordWindow[];

/**
 * Parses a hash such as `#/charts?group=bsc`. Unknown pages become the page of flares, invalid
 * parameters their defaults. In `#/token/ADDRESS`, the token's group is the default one.
 */
export function readRoute(hash: string): Route {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", first = "", second = first] = path.split("/");
  const parameters = new URLSearchParams(query.join("?"));
  if (name === "token" && second !== "") {
    const range = RANGE_NAMES.find((known) => known === parameters.get("window"));
    const group = GROUPS.find((known) => known === decode(first)) ?? DEFAULT_QUERY.group;
    return { page: name, group, token: normalizeAddress(group, decode(second)), range };
  }
  const page = PAGES.find((known) => known === name) ?? "flares";
  if (page === "flares") return { page, query: readQuery(query.join("?")) };
  if (page === "newest") return { page };
  if (page === "events") return { page, hasUpdates: parameters.get("updates") === "true" };
  const group = GROUPS.find((known) => known === parameters.get("group"));
  if (page !== "record") return { page, group };
  const window = RECORD_WINDOWS.find((known) => known === parameters.get("window")) ?? RECORD_WINDOWS[0];
  return { page, group: group ?? DEFAULT_QUERY.group, window };
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
 * Returns the URL that should replace the hash of a flare, a token or an unknown page; `undefined`
 * to leave the hash. For an unknown page, returns the hash of the page of flares, which is shown.
 * For a flare, or a token of an unknown group, returns the path of a page that the server renders;
 * otherwise another hash.
 */
export function canonicalOf(hash: string): string | undefined {
  const [, page, first = "", second] =
    /^#\/(flare|token)\/([^/?]+)(?:\/([^/?]+))?(?:\?.*)?$/.exec(hash) ?? [];
  if (page === "flare" && second === undefined) return flarePath(decode(first));
  const name = /^#\/([^/?]+)/.exec(hash)?.[1];
  if (name !== undefined && ![...PAGES, "flare", "token"].includes(name)) return flaresHash(DEFAULT_QUERY);
  if (page !== "token") return undefined;
  const isKnown = second === undefined || GROUPS.some((known) => known === decode(first));
  if (!isKnown) return tokenPath(decode(first), decode(second));
  const route = readRoute(hash);
  const canonical = route.page === "token" ? tokenHash(route.group, route.token, route.range) : hash;
  return canonical === hash ? undefined : canonical;
}

export function flaresHash(query: FlareQuery): string {
  const text = formatQuery(query);
  return text === "" ? "#/flares" : `#/flares?${text}`;
}

export function eventsHash(hasUpdates: boolean): string {
  return hasUpdates ? "#/events?updates=true" : "#/events";
}

export function recordHash({ group, window }: RecordChoice): string {
  const parameters = new URLSearchParams({
    ...(group !== DEFAULT_QUERY.group && { group }),
    ...(window !== RECORD_WINDOWS[0] && { window }),
  });
  return parameters.size === 0 ? "#/record" : `#/record?${parameters}`;
}

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
