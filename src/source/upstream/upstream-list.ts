import type { z } from "zod";
import {
  BscChartItem,
  BscLeaderboardEntry,
  ChainLeaderboardEntry,
  ExchangeChartItem,
  ExchangeLeaderboardEntry,
  Flare,
  keyOf,
  type ListItem,
  Listing,
  MaticChartItem,
} from "../../model/index.ts";
import type { ListChannel } from "../../protocol/index.ts";
import { jsonEqual } from "../json-equal.ts";
import { fieldOf, isRecord, sanitize } from "./upstream-json.ts";
import type { UpstreamReports } from "./upstream-reports.ts";

/** What an item of each list must be, and how many a list may hold: as many as its schema says; where that sets no bound, 10,000. */
export const UPSTREAM_LISTS: Readonly<
  Record<ListChannel, { readonly schema: z.ZodType<ListItem>; readonly most: number }>
> = {
  "flares.free": { schema: Flare, most: 10_000 },
  "flares.pro": { schema: Flare, most: 10_000 },
  "flares.finished": { schema: Flare, most: 10_000 },
  "newest.bsc": { schema: Listing, most: 10_000 },
  "charts.bsc": { schema: BscChartItem, most: 10 },
  "charts.exchange": { schema: ExchangeChartItem, most: 10 },
  "charts.matic": { schema: MaticChartItem, most: 10 },
  "charts.avalanche": { schema: MaticChartItem, most: 10 },
  "leaderboards.bsc": { schema: BscLeaderboardEntry, most: 10 },
  "leaderboards.exchange": { schema: ExchangeLeaderboardEntry, most: 10 },
  "leaderboards.matic": { schema: ChainLeaderboardEntry, most: 10 },
  "leaderboards.avalanche": { schema: ChainLeaderboardEntry, most: 10 },
};

/** Entries of a list that are looked at; the rest is left out unseen. */
const MAX_READ = 10_000;
/** Longer keys are not taken for keys: real ones have 36 or 42 characters. */
const MAX_KEY = 200;

/**
 * The list that an upstream means by `raw`, in its order. An item that is valid is taken whole, unknown fields included; one that
 * is not is replaced, at its place, by its last valid version in `before`, or left out when it has none there. Of two valid ones with
 * one key the first counts. A `raw` that is no array leaves `before`. Items equal to those in `before` are the same objects. Never throws; what was wrong goes to `reports`.
 */
export function readList(
  list: ListChannel,
  raw: unknown,
  before: readonly ListItem[],
  reports: UpstreamReports,
): readonly ListItem[] {
  if (!Array.isArray(raw)) {
    reports.add("invalidLists", { list, key: null, path: "", reason: "is not an array", action: "kept" });
    return before;
  }
  const { most } = UPSTREAM_LISTS[list];
  const known = new LastValid(before);
  const items = new Map<string, ListItem>();
  const standIns = new Set<string>();
  for (const entry of raw.slice(0, MAX_READ)) {
    const { item, valid } = readItem(list, entry, known, reports);
    if (!item) continue;
    const key = keyOf(item);
    if (items.has(key) && !(valid && standIns.delete(key))) {
      reports.add("duplicates", {
        list,
        key,
        path: "",
        reason: "stands in the list twice",
        action: "dropped",
      });
      continue;
    }
    items.set(key, item);
    if (!valid) standIns.add(key);
  }
  if (raw.length > MAX_READ || items.size > most) {
    const reason = `has more than ${Math.min(most, MAX_READ)} items`;
    reports.add("overlong", { list, key: null, path: "", reason, action: "dropped" });
  }
  return [...items.values()].slice(0, most);
}

function readItem(
  list: ListChannel,
  entry: unknown,
  known: LastValid,
  reports: UpstreamReports,
): { readonly item: ListItem | undefined; readonly valid: boolean } {
  const key = keyIn(entry);
  const sameKey = key === undefined ? undefined : known.byKey(key);
  // Once before, for it is the usual case and what equals a sound item is sound, and once after what sanitize takes out.
  if (sameKey && jsonEqual(sameKey, entry)) return { item: sameKey, valid: true };
  const unfit = sanitize(entry);
  if (sameKey && !unfit && jsonEqual(sameKey, entry)) return { item: sameKey, valid: true };
  const fault = unfit ? { path: "", reason: unfit } : faultOf(UPSTREAM_LISTS[list].schema, entry);
  if (!fault && key !== undefined) return { item: asListItem(entry), valid: true };
  const last = sameKey ?? known.byToken(entry);
  reports.add("invalidItems", {
    list,
    key: key ?? null,
    ...(fault ?? { path: "", reason: `has no key of at most ${MAX_KEY} characters` }),
    action: last ? "kept" : "dropped",
  });
  return { item: last, valid: false };
}

/** What a schema holds against a value first: where and why; `undefined` when it fits. */
export function faultOf(schema: z.ZodType, value: unknown): { path: string; reason: string } | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue && { path: issue.path.join("."), reason: issue.message };
}

/** The value itself, not what the schema made of it, which would lack the unknown fields. */
function asListItem(value: unknown): ListItem {
  return value as ListItem;
}

/** What keyOf will say of the item once it is found valid: it looks at unknown fields too, and those may be anything. */
function keyIn(entry: unknown): string | undefined {
  const object = fieldOf(entry, "object");
  const holder = has(entry, "id") ? entry : object;
  const name = has(holder, "id") ? "id" : has(holder, "address") ? "address" : "symbol";
  const key = fieldOf(holder, name);
  return typeof key === "string" && key.length <= MAX_KEY ? key : undefined;
}

function has(value: unknown, name: string): boolean {
  return isRecord(value) && Object.hasOwn(value, name);
}

/** The items of the list before, to be found by key, or, where an item's key cannot be read, by what it is about. */
class LastValid {
  readonly #byKey: ReadonlyMap<string, ListItem>;
  #byToken: ReadonlyMap<string, ListItem> | undefined;
  readonly #items: readonly ListItem[];

  constructor(items: readonly ListItem[]) {
    this.#items = items;
    this.#byKey = new Map(items.map((item) => [keyOf(item), item]));
  }

  byKey(key: string): ListItem | undefined {
    return this.#byKey.get(key);
  }

  byToken(entry: unknown): ListItem | undefined {
    const token = tokenIn(entry);
    if (token === undefined) return undefined;
    this.#byToken ??= new Map(this.#items.map((item) => [tokenIn(item) ?? "", item]));
    return this.#byToken.get(token);
  }
}

/** Token and start: what an item's id is made from, and so as good as its id. */
function tokenIn(entry: unknown): string | undefined {
  const object = fieldOf(entry, "object");
  const carriers = [entry, fieldOf(entry, "flare"), object].map((carrier) => fieldOf(carrier, "token"));
  for (const token of [...carriers, object]) {
    const name = fieldOf(token, "address") ?? fieldOf(token, "symbol");
    if (typeof name !== "string") continue;
    const start = fieldOf(entry, "started_trending_at") ?? fieldOf(entry, "listed_at");
    return JSON.stringify([typeof start === "string" ? start : null, name]);
  }
  return undefined;
}
