import { signal } from "@preact/signals";
import { foldAddress, GROUPS, type GroupName, isNameIn } from "../../../../base/model/groups.ts";
import { onStoredElsewhere, readStored, writeStored } from "./stored.ts";

export const WATCHED_KEY = "flarewire-watched";
/** Maximum number of tokens in all groups together. A filter of the API accepts as many. */
const MAX_WATCHED = 64;

/** Whether it is an address on `bsc`, or another group, a slash, and a name in that group. */
function isStored(one: string): boolean {
  return GROUPS.some((group) => {
    const prefix = prefixOf(group);
    const name = one.slice(prefix.length);
    return one.startsWith(prefix) && /^[^,]{1,128}$/.test(name) && isNameIn(group, name);
  });
}

/** The visitor's watch list, which only this browser stores. */
const stored = signal<ReadonlySet<string>>(globalThis.window ? readWatched() : new Set());

/** Follows changes in other tabs: without them, the next toggle here would undo them. */
export function followWatched(): () => void {
  return onStoredElsewhere([WATCHED_KEY], () => {
    stored.value = readWatched();
  });
}

/** The group's tokens on the list: addresses or symbols, as by foldAddress. */
export function watchedIn(group: GroupName): ReadonlySet<string> {
  return watchedOf(group, stored.value);
}

/** Adds a token to the list, or removes it. Beyond the limit, drops the oldest. */
export function toggleWatched(group: GroupName, token: string): void {
  const wanted = `${prefixOf(group)}${foldAddress(token)}`;
  const before = stored.peek();
  const others = [...before].filter((one) => one !== wanted);
  const after = before.has(wanted) ? others : [...others, wanted].slice(-MAX_WATCHED);
  writeStored("localStorage", WATCHED_KEY, JSON.stringify(after));
  stored.value = new Set(after);
}

function prefixOf(group: GroupName): string {
  return group === "bsc" ? "" : `${group}/`;
}

/** Returns the group's tokens on the list. */
function watchedOf(group: GroupName, all: ReadonlySet<string>): ReadonlySet<string> {
  const prefix = prefixOf(group);
  const own = [...all].filter((one) => (prefix === "" ? !one.includes("/") : one.startsWith(prefix)));
  return new Set(own.map((one) => one.slice(prefix.length)));
}

/** Returns the groups with tokens on the stored list, and their tokens. */
export function watchedGroups(): ReadonlyMap<GroupName, readonly string[]> {
  const all = readWatched();
  const groups = GROUPS.map((group) => [group, [...watchedOf(group, all)]] as const);
  return new Map(groups.filter(([, tokens]) => tokens.length > 0));
}

function readWatched(): ReadonlySet<string> {
  const tokens = readStored("localStorage", WATCHED_KEY, (text) => {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.map(String).filter(isStored) : [];
  });
  return new Set(tokens?.slice(0, MAX_WATCHED));
}
