import type { z } from "zod";
import { jsonEqual } from "../../base/lib/json-equal.ts";
import { firstIssue } from "../../base/lib/text/first-issue.ts";
import { fieldOf, isRecord, sanitize } from "../../base/lib/untrusted-json.ts";
import {
  BscChartItem,
  BscLeaderboardEntry,
  byForm,
  ChainChartItem,
  ChainLeaderboardEntry,
  ExchangeChartItem,
  ExchangeLeaderboardEntry,
  Flare,
  type GroupName,
  groupOfChannel,
  keyOf,
  type ListItem,
  Listing,
} from "../../base/model/index.ts";
import { listPathOf, type SpecChannel } from "../../base/protocol/index.ts";
import type { UpstreamReports } from "./upstream-reports.ts";

/** The schema of each group's charts and leaderboards. */
const RANKED: Readonly<Record<string, Record<GroupName, z.ZodType<ListItem>>>> = {
  charts: byForm(BscChartItem, ExchangeChartItem, ChainChartItem),
  leaderboards: byForm(BscLeaderboardEntry, ExchangeLeaderboardEntry, ChainLeaderboardEntry),
};

/** Returns a list's schema and maximum length: the schema's own maximum, or 10,000. */
export function limitsOf(list: SpecChannel): {
  readonly schema: z.ZodType<ListItem>;
  readonly maxItems: number;
} {
  const ranked = RANKED[listPathOf(list)[0]]?.[groupOfChannel(list)];
  if (ranked) return { schema: ranked, maxItems: 10 };
  return { schema: list === "newest.bsc" ? Listing : Flare, maxItems: 10_000 };
}

/** Maximum number of entries to read. The rest is ignored. */
const MAX_READ = 10_000;
/** Longer keys are rejected. Real ones have 36 or 42 characters. */
const MAX_KEY = 200;

/**
 * Reads an upstream's list, in its order, with unknown fields, up to its maximum length. If `raw`
 * is no array, returns `before`. An invalid item is replaced by its last valid version in `before`,
 * or dropped. Of several items with one key, the first valid one counts. Reuses equal items of
 * `before`. Problems go to `reports`.
 */
export function readList(
  list: SpecChannel,
  raw: unknown,
  before: readonly ListItem[],
  reports: UpstreamReports,
): readonly ListItem[] {
  if (!Array.isArray(raw)) {
    reports.add("invalidLists", { list, reason: "is not an array", action: "kept" });
    return before;
  }
  const { maxItems } = limitsOf(list);
  const lastValid = new LastValid(before);
  const items = new Map<string, ListItem>();
  const replacements = new Set<string>();
  for (const entry of raw.slice(0, MAX_READ)) {
    const { item, valid } = readItem(list, entry, lastValid, reports);
    if (!item) continue;
    const key = keyOf(item);
    if (items.has(key) && !(valid && replacements.delete(key))) {
      reports.add("duplicates", { list, key, reason: "occurs in the list twice", action: "dropped" });
      continue;
    }
    items.set(key, item);
    if (!valid) replacements.add(key);
  }
  if (raw.length > MAX_READ || items.size > maxItems) {
    const reason = `has more than ${Math.min(maxItems, MAX_READ)} items`;
    reports.add("overlong", { list, reason, action: "dropped" });
  }
  return [...items.values()].slice(0, maxItems);
}

function readItem(
  list: SpecChannel,
  entry: unknown,
  lastValid: LastValid,
  reports: UpstreamReports,
): { readonly item: ListItem | undefined; readonly valid: boolean } {
  const key = keyIn(entry);
  const sameKey = key === undefined ? undefined : lastValid.byKey(key);
  // Compare twice: most items equal their valid predecessor, and some others do once sanitized.
  if (sameKey && jsonEqual(sameKey, entry)) return { item: sameKey, valid: true };
  const unfit = sanitize(entry);
  if (sameKey && !unfit && jsonEqual(sameKey, entry)) return { item: sameKey, valid: true };
  const issue = unfit ? { path: "", reason: unfit } : issueOf(limitsOf(list).schema, entry);
  if (!issue && key !== undefined) return { item: asListItem(entry), valid: true };
  const last = sameKey ?? lastValid.byToken(entry);
  reports.add("invalidItems", {
    list,
    key: key ?? null,
    ...(issue ?? { reason: `has no key of at most ${MAX_KEY} characters` }),
    action: last ? "kept" : "dropped",
  });
  return { item: last, valid: false };
}

/** Returns the first schema issue of a value; `undefined` if it is valid. */
export function issueOf(schema: z.ZodType, value: unknown): { path: string; reason: string } | undefined {
  const { error } = schema.safeParse(value);
  if (!error) return undefined;
  const { field, message } = firstIssue(error, value);
  return { path: field, reason: message };
}

/** Returns the value itself, because the schema's result lacks unknown fields. */
function asListItem(value: unknown): ListItem {
  return value as ListItem;
}

/** Reads the key of an unchecked item like keyOf. Unknown fields may hold anything. */
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

/**
 * Finds items of the previous list by key, or by token and start if the key is not in that list.
 */
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

/** Reads token and start (or time of listing), from which an item's id is derived. */
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
