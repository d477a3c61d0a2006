import { foldAddress, type GroupName } from "../../../../base/model/groups.ts";
import { DEFAULT_QUERY, formatQuery } from "../flare-query.ts";

/** An alert about the flares that a query of the page selects. */
export interface AlertEntry {
  /** The query as in the page's address: for a single token, `tokens=0x…`. */
  readonly query: string;
  /** Symbol of a single token, for display. Untrusted. */
  readonly symbol?: string;
}

/** The visitor's alerts, in this browser only. */
export interface AlertSettings {
  readonly entries: readonly AlertEntry[];
  /** Whether starts of flares of watched tokens are reported. */
  readonly hasWatchList: boolean;
  readonly isNotified: boolean;
  readonly hasSound: boolean;
  /** Whether the server pushes alerts, also while the page is closed. */
  readonly isPushed: boolean;
}

export const NO_ALERTS: AlertSettings = {
  entries: [],
  hasWatchList: false,
  isNotified: false,
  hasSound: false,
  isPushed: false,
};

export const MAX_ENTRIES = 50;

/** Returns the query for one token. `token`: its address or, on an exchange, its symbol. */
export function tokenQuery(group: GroupName, token: string): string {
  return formatQuery({ ...DEFAULT_QUERY, group, tokens: [foldAddress(token)] });
}

export function isAnySet({ entries, hasWatchList }: AlertSettings): boolean {
  return entries.length > 0 || hasWatchList;
}

/** Adds the entry, or removes the one with the same query. Beyond the limit, drops the oldest. */
export function toggleEntry(settings: AlertSettings, entry: AlertEntry): AlertSettings {
  const others = settings.entries.filter(({ query }) => query !== entry.query);
  const isSet = others.length < settings.entries.length;
  return { ...settings, entries: isSet ? others : [...others, entry].slice(-MAX_ENTRIES) };
}
