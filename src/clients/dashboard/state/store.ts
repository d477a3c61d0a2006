import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { GROUPS, type GroupName, isAdditional } from "../../../base/model/groups.ts";
import { zone } from "../text/format.ts";
import type { PageAlerts } from "./alerts/page-alerts.ts";
import { follow } from "./follow.ts";
import type { FlareLists } from "./group/flare-lists.ts";
import { isOld, withGroup } from "./judge.ts";
import type { Seen } from "./seen.ts";
import { shownGroup } from "./use-route.ts";
import { onStoredElsewhere, readStored, writeStored } from "./visitor/stored.ts";
import { followWatched, watchedIn } from "./visitor/watched.ts";

/*
 * The state of the page. Components read its signals themselves, and rerender when a signal that
 * they have read changes.
 */

/** Event time is assumed to advance with the clock for at most this long without new data. */
const MAX_GUESSED_MS = 15_000;
const ZONE_KEY = "flarewire-zone";

/** Key of the session storage, which lasts until the tab is closed. */
const STORED_KEY = "flarewire-key";

/** The form of a key, as a regular expression. The client rejects anything else. */
export const KEY = "[!-~]+";
const WHOLE_KEY = new RegExp(`^${KEY}$`);

export const server = signal(new URL(globalThis.location?.href ?? "http://localhost"));

/** The visitor's key; `undefined` for an anonymous visitor. */
export const key = signal(globalThis.window ? storedKey() : undefined);

/** The streams of the groups that the page follows. */
const streams = GROUPS.map((group) => ({ group, seen: signal<Seen>() }));

/** Returns the state of the group's stream; `undefined` before its first, and without a stream. */
function seenOf(group: GroupName): Seen | undefined {
  return streams.find((one) => one.group === group)?.seen.value;
}

/** The state of the page. If only the stream of the shown group is interrupted, it says so. */
export const seen = computed(() => {
  const group = shownGroup.value;
  return withGroup(seenOf("bsc"), group === "bsc" ? undefined : seenOf(group));
});
export const view = computed(() => seenOf("bsc")?.view);
export const access = computed(() => seenOf("bsc")?.access);
export const freshness = computed(() => seen.value?.freshness);

/** Returns the group's flares; `undefined` before they load, an Error if they were refused. */
export function listsOf(group: GroupName): FlareLists | Error | undefined {
  return group === "bsc" ? seenOf(group)?.view : seenOf(group)?.lists;
}

/** The lists of all followed groups. */
export const followed = computed(() => GROUPS.map((group) => ({ group, lists: listsOf(group) })));

/** Event time of the page before the first data; `undefined`: the clock's. */
export const renderedMs = signal<number>();

/** Event time in whole seconds, as estimated while no data comes. */
export const nowS = computed(() => {
  const { observedAt, ageMs = 0 } = seenOf("bsc")?.freshness ?? {};
  const known = observedAt ? Date.parse(observedAt) + Math.min(ageMs, MAX_GUESSED_MS) : renderedMs.value;
  return Math.floor((known ?? Date.now()) / 1_000);
});

/** Returns what `of` makes of the event time and `given`. Rerenders only when that changes. */
export function useNow<T>(of: (nowMs: number) => T, given: readonly unknown[] = []): T {
  return useMemo(() => computed(() => of(nowS.value * 1_000)), given).value;
}

/** What a source may know, as `Flarewire-Facts` names it. */
const FACTS = ["trades", "liquidity", "listings", "profiles"] as const;

/** The kind of market. Fields are `undefined` if the server does not report them. */
export interface MarketKind {
  /** `live`, `recorded` or `simulated`. */
  readonly origin: string | undefined;
  readonly facts: readonly string[] | undefined;
}

/** The markup of what flares now, as the server rendered it. */
export const renderedMain = signal("");
/** What the server says of the market when it renders a page itself. */
export const renderedMarket = signal<MarketKind>({ origin: undefined, facts: undefined });
export const market = computed<MarketKind>(() => access.value ?? renderedMarket.value);

/**
 * The facts that the market's source cannot know; none before the server reports them. The API has
 * neutral values for them.
 */
export const lackedFacts = computed(() => {
  const { facts } = market.value;
  return facts === undefined ? [] : FACTS.filter((fact) => !facts.includes(fact));
});

/** Whether prices are in US dollars: without trades and liquidity, they may be in any currency. */
export const isUsd = computed(
  () => !(lackedFacts.value.includes("trades") && lackedFacts.value.includes("liquidity")),
);

/** The label of prices. */
export const priceLabel = computed(() => (isUsd.value ? "Price in USD" : "Price as recorded"));

/**
 * Whether the visitor has no key. A link to a page of the server sends none, so that page shows
 * what everyone may see, which may be nothing.
 */
export const isAnonymous = computed(() => key.value === undefined);

/** Whether the page shows old data, which says nothing of the market now. */
export const isPast = computed(() => seen.value !== undefined && isOld(seen.value));

/** The groups to offer, joined with commas: additional ones only while their lists have a token. */
export const knownGroups = computed(() => {
  const { charts, leaderboards } = view.value ?? {};
  const hasToken = (group: GroupName) =>
    [charts?.[group], leaderboards?.[group]].some((list) => (list?.length ?? 0) > 0);
  return GROUPS.filter((group) => !isAdditional(group) || hasToken(group)).join();
});

function storedKey(): string | undefined {
  return readStored("sessionStorage", STORED_KEY, (text) => (WHOLE_KEY.test(text) ? text : undefined));
}

/** Switches to another key, or to none. If `isStored`, the key lasts until the tab is closed. */
export function switchKey(given: string | undefined, isStored = false): void {
  writeStored("sessionStorage", STORED_KEY, isStored ? given : undefined);
  key.value = given;
}

/** Chooses the zone of the page's times, and keeps it in this browser. */
export function switchZone(): void {
  zone.value = zone.peek() === "UTC" ? "local" : "UTC";
  writeStored("localStorage", ZONE_KEY, zone.peek());
}

function readZone(): void {
  const isLocal = readStored("localStorage", ZONE_KEY, (text) => text === "local");
  zone.value = isLocal ? "local" : "UTC";
}

/**
 * Follows the page's stream, and the streams of the shown group and of groups with an alert.
 * Returns a function that stops this.
 */
export function startFollowing(alerts: PageAlerts, shown: ReadonlySignal<GroupName>): () => void {
  readZone();
  const alerted = signal<readonly GroupName[]>([]);
  const look = () => {
    alerted.value = alerts.queries.map(({ group }) => group);
  };
  look();
  const ends = streams.map(({ group, seen: state }) => {
    const isWanted = computed(
      () => group === "bsc" || group === shown.value || alerted.value.includes(group),
    );
    return effect(() => {
      if (!isWanted.value) return;
      const following = follow(server.value, key.value, group, alerts, () => {
        state.value = following.now();
      });
      return () => {
        following.stop();
        state.value = undefined;
      };
    });
  });
  ends.push(
    alerts.onChange(look),
    followWatched(),
    onStoredElsewhere([ZONE_KEY], readZone),
    effect(() => {
      watchedIn("bsc");
      alerts.watchListChanged();
    }),
    effect(() => {
      if (alerts.key !== key.value) alerts.key = key.value;
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}
