import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { GROUPS, type GroupName } from "../../../../base/model/groups.ts";
import type { EventMessage } from "../../../sdk/index.ts";
import { DEFAULT_QUERY, type FlareQuery, readQuery, shownQuery } from "../flare-query.ts";
import type { FlareLists } from "../group/flare-lists.ts";
import { onStoredElsewhere, readStored, writeStored } from "../visitor/stored.ts";
import { WATCHED_KEY, watchedGroups } from "../visitor/watched.ts";
import { type AlertEntry, type AlertSettings, isAnySet, MAX_ENTRIES, NO_ALERTS } from "./alert-settings.ts";
import { type AlertHit, AlertWatch } from "./alert-watch.ts";
import { playSound } from "./sound.ts";

const STORAGE_KEY = "flarewire-alerts";
const MAX_QUERY = 4_096;

/** Alerts within this time after a report are reported together. */
const TOGETHER_MS = 2_000;

/** How long a claim holds, because other tabs may see the same alert later. */
const HELD_MS = 300_000;

/** The page's alerts: stores what is set, and reports while the page is open. */
export class PageAlerts {
  readonly server: URL;
  #settings = readAlerts();
  readonly #watches = new Map(GROUPS.map((group) => [group, new AlertWatch(group)]));
  readonly #lists = new Map<GroupName, FlareLists>();
  readonly #listeners = new Set<() => void>();
  #title = document.title;
  #key: string | undefined;
  #waiting: AlertHit[] = [];
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  /** Alerts since the page was hidden; 0 while it is visible. */
  #unseen = 0;

  constructor(server: URL, key: string | undefined) {
    this.server = server;
    this.#key = key;
    onStoredElsewhere([STORAGE_KEY, WATCHED_KEY], () => this.#changed(readAlerts()));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.#count(0);
    });
    // The server may have replaced the subscription by another visitor's while its service failed.
    this.#push();
  }

  /**
   * The visitor's key, sent to the server with the subscription for push. A new key updates that.
   */
  get key(): string | undefined {
    return this.#key;
  }

  set key(key: string | undefined) {
    this.#key = key;
    this.#push();
  }

  /** The title of the shown page. A hidden tab puts the number of its alerts before it. */
  set title(title: string) {
    this.#title = title;
    this.#count(this.#unseen);
  }

  get settings(): AlertSettings {
    return this.#settings;
  }

  /** Whether the page must follow the stream while it is hidden. */
  get isOn(): boolean {
    return isAnySet(this.#settings);
  }

  update(change: (before: AlertSettings) => AlertSettings): void {
    const settings = change(this.#settings);
    writeAlerts(settings);
    this.#changed(settings);
  }

  /**
   * Calls the listener when the settings or the watch list change. Returns a function that removes
   * it.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Takes a stream's new lists. If the stream has just started, reports none of their flares;
   * otherwise, reports those that the stream missed.
   */
  reset(group: GroupName, lists: FlareLists, isStart: boolean): void {
    this.#lists.set(group, lists);
    const watch = this.#watches.get(group);
    if (isStart) watch?.watchFor(this.queries, lists);
    else this.#report(watch?.catchUp(lists) ?? []);
  }

  take(group: GroupName, event: EventMessage, lists: FlareLists): void {
    this.#lists.set(group, lists);
    this.#report(this.#watches.get(group)?.take(event, lists) ?? []);
  }

  watchListChanged(): void {
    this.#changed(this.#settings);
  }

  #changed(settings: AlertSettings): void {
    this.#settings = settings;
    for (const [group, watch] of this.#watches) watch.watchFor(this.queries, this.#lists.get(group));
    for (const listener of this.#listeners) listener();
    this.#push();
  }

  /**
   * If push is on, updates the server's rules. Loads the code on demand, because few visitors use
   * it.
   */
  #push(): void {
    if (!this.#settings.isPushed) return;
    void import("./push.ts").then(
      ({ updatePush }) => updatePush(this).catch(() => {}),
      () => {},
    );
  }

  /** The alerts that are set, as queries of the page of flares. */
  get queries(): readonly FlareQuery[] {
    const { entries, hasWatchList } = this.#settings;
    const groups = hasWatchList ? [...watchedGroups()] : [];
    const watched = groups.map(([group, tokens]) => ({ ...DEFAULT_QUERY, group, tokens }));
    return [...entries.map(({ query }) => readQuery(query)), ...watched];
  }

  /** Returns the query with the channel whose flares it reports to this visitor. */
  reportedQuery(query: FlareQuery): FlareQuery {
    return shownQuery(query, this.#lists.get(query.group));
  }

  #report(hits: readonly AlertHit[]): void {
    if (hits.length === 0) return;
    if (document.hidden) this.#count(this.#unseen + hits.length);
    const isFirst = this.#waiting.length === 0;
    this.#waiting.push(...hits);
    if (!isFirst) return;
    const restMs = this.#reportedAtMs + TOGETHER_MS - performance.now();
    // Report at once if possible, because timers of a hidden page may be a minute late.
    if (restMs <= 0) void this.#flush();
    else setTimeout(() => void this.#flush(), restMs);
  }

  #flush(): Promise<void> {
    const hits = this.#waiting;
    this.#waiting = [];
    this.#reportedAtMs = performance.now();
    return this.#show(hits);
  }

  async #show(hits: readonly AlertHit[], isSecondTry = false): Promise<void> {
    const { isNotified, hasSound } = this.#settings;
    if (!isNotified && !hasSound) return;
    const claims = await claim(hits.map(({ key }) => key));
    const left = hits.filter(({ key }) => !claims.has(key));
    // The tab with the claim may fail to show the alert, and then gives the claim back.
    if (left.length > 0 && !isSecondTry) setTimeout(() => void this.#show(left, true), TOGETHER_MS);
    if (claims.size === 0) return;
    if (hasSound) playSound();
    if (!isNotified) return;
    try {
      const { showNotifications } = await import("./push.ts");
      await showNotifications(
        this.server,
        hits.filter(({ key }) => claims.has(key)),
      );
    } catch {
      for (const release of claims.values()) release();
    }
  }

  #count(unseen: number): void {
    this.#unseen = unseen;
    document.title = unseen === 0 ? this.#title : `(${unseen}) ${this.#title}`;
  }
}

/** The page's alerts, and how to open their panel. */
interface AlertsControl {
  readonly alerts: PageAlerts | undefined;
  readonly openPanel: () => void;
}

export const Alerts = createContext<AlertsControl>({ alerts: undefined, openPanel: () => {} });

/** Returns the page's alerts and their settings. Rerenders when these change. */
export function useAlerts(): AlertsControl & { readonly settings: AlertSettings } {
  const control = useContext(Alerts);
  const { alerts } = control;
  const [, render] = useState({});
  useEffect(() => alerts?.onChange(() => render({})), [alerts]);
  return { ...control, settings: alerts?.settings ?? NO_ALERTS };
}

/**
 * Claims the keys that no other open tab of this browser has claimed. Returns each with a function
 * that gives it back. Uses locks, because changes to the storage reach other tabs a moment later.
 */
async function claim(keys: readonly string[]): Promise<ReadonlyMap<string, () => void>> {
  // Insecure pages have no locks, but no notifications either: only the sound may repeat.
  if (!navigator.locks) return new Map(keys.map((key) => [key, () => {}]));
  const claimed = await Promise.all(keys.map(async (key) => [key, await lock(key)] as const));
  return new Map(claimed.flatMap(([key, release]) => (release ? [[key, release]] : [])));
}

/**
 * Requests the lock, and holds it for five minutes. Resolves with a function that releases it, or
 * with `undefined` if another tab has it.
 */
function lock(key: string): Promise<(() => void) | undefined> {
  return new Promise((resolve) => {
    const hold = async (got: Lock | null) => {
      if (!got) return resolve(undefined);
      await new Promise<void>((release) => {
        setTimeout(release, HELD_MS);
        resolve(release);
      });
    };
    // If the lock fails, report the alert: twice is better than never.
    const asked = navigator.locks.request(`flarewire-alert ${key}`, { ifAvailable: true }, hold);
    asked.catch(() => resolve(() => {}));
  });
}

function readAlerts(): AlertSettings {
  return readStored("localStorage", STORAGE_KEY, settingsIn) ?? NO_ALERTS;
}

function settingsIn(text: string): AlertSettings {
  const stored: unknown = JSON.parse(text);
  if (typeof stored !== "object" || stored === null) return NO_ALERTS;
  const { entries, hasWatchList, isNotified, hasSound, isPushed } = { ...NO_ALERTS, ...stored };
  return {
    entries: Array.isArray(entries) ? entries.flatMap(readEntry).slice(0, MAX_ENTRIES) : [],
    hasWatchList: hasWatchList === true,
    isNotified: isNotified === true,
    hasSound: hasSound === true,
    isPushed: isPushed === true,
  };
}

function writeAlerts(settings: AlertSettings): void {
  writeStored("localStorage", STORAGE_KEY, JSON.stringify(settings));
}

function readEntry(given: unknown): readonly AlertEntry[] {
  if (typeof given !== "object" || given === null || !("query" in given)) return [];
  const query = String(given.query);
  if (query.length > MAX_QUERY) return [];
  return [{ query, ...("symbol" in given ? { symbol: String(given.symbol).slice(0, 200) } : {}) }];
}
