import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { EventMessage, View } from "../../../sdk/index.ts";
import { RecentKeys } from "../../../text/recent-keys.ts";
import { eventPages } from "./event-pages.ts";

/** The events that the feed shows by default. */
const NEWS_NAMES = ["flare-started", "flare-surged", "flare-finished", "token-listed"] as const;

/** Maximum number of lines in the feed of news. */
export const MAX_NEWS = 300;
/** Maximum number of symbols in a notice. */
const MAX_NAMED = 3;
/** Maximum number of ended flares to remember. */
const MAX_ENDED = 10_000;

/**
 * Returns a key for the start, surge, end or listing that an event reports; `undefined` for other
 * events. A start, surge or end is an event on each of the flare's channels, with the same key on
 * all.
 */
export function newsKey({ name, data }: EventMessage): string | undefined {
  if (!NEWS_NAMES.some((known) => known === name)) return undefined;
  if ("surge" in data) return `${name} ${data.surge.number} ${data.flare.id}`;
  if ("flare" in data) return `${name} ${data.flare.id}`;
  return "listing" in data ? `${name} ${data.listing.id}` : undefined;
}

/** Whether the visitor receives `flares.pro`. */
export function hasPro(view: View | undefined): boolean {
  return view?.flares?.pro !== undefined;
}

/**
 * Returns one event for each start, surge, end and listing, newest first: the first that reported
 * it, but an entry into `flares.free` only if no start is known. Such an entry is news only to a
 * visitor who does not see `flares.pro`.
 */
export function newsOf(newestFirst: readonly EventMessage[], seesPro = false): readonly EventMessage[] {
  const reported = new Map<string, EventMessage>();
  for (const event of newestFirst.toReversed()) {
    const key = newsKey(event);
    if (key === undefined) continue;
    const first = reported.get(key);
    // In one batch of events, a flare's entry into `flares.free` comes before its start.
    if (first && (!isAged(first) || isAged(event))) continue;
    reported.delete(key);
    reported.set(key, event);
  }
  const news = [...reported.values()].reverse();
  return seesPro ? news.filter((event) => !isAged(event)) : news;
}

/** Whether a flare enters the free list, because it has lasted five minutes. */
export function isAged({ name, data }: EventMessage): boolean {
  return name === "flare-started" && "cause" in data && data.cause === "aged";
}

/**
 * Fetches the latest news in the server's log, newest first. If the server refuses a page, returns
 * the news on the pages before it. Rejects if a request fails.
 */
export async function fetchNews(
  server: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<readonly EventMessage[]> {
  let found: readonly EventMessage[] = [];
  for await (const page of eventPages(server, key, signal, { after: "oldest", names: NEWS_NAMES.join() }))
    if (page) found = newsOf([...page.events.toReversed(), ...found]).slice(0, MAX_NEWS);
  return found;
}

/**
 * Returns a function that takes the latest news. It returns a text for screen readers about the
 * flares that started since the last call; empty if there are none. On the free plan, a flare
 * counts when it enters `flares.free`.
 */
export function createStartNotices(): (newestFirst: readonly EventMessage[], seesPro: boolean) => string {
  let announced: ReadonlySet<string | undefined> = new Set();
  return (newestFirst, seesPro) => {
    const starts = newsOf(newestFirst, seesPro).filter((event) => event.name === "flare-started");
    const symbols = starts
      .filter((event) => !announced.has(newsKey(event)))
      .map(({ data }) => safeText(data.flare.token.symbol));
    announced = new Set(starts.map(newsKey));
    return symbols.length > 0 ? startsText(symbols, seesPro) : "";
  };
}

function startsText(symbols: readonly string[], seesPro: boolean): string {
  const isOne = symbols.length === 1;
  const flares = isOne ? "A flare" : `${symbols.length} flares`;
  // On the free plan, a flare appears only after five minutes.
  const what = seesPro ? "started" : `${isOne ? "has" : "have"} lasted at least 5 minutes`;
  const more = symbols.length > MAX_NAMED ? ` and ${symbols.length - MAX_NAMED} more` : "";
  return `${flares} ${what}: ${symbols.slice(0, MAX_NAMED).join(", ")}${more}`;
}

/**
 * Finds the events that report a change again: each channel of a flare reports its changes and its
 * end. Bounded.
 */
export class RepeatFilter {
  readonly #ended = new RecentKeys<string>(MAX_ENDED);

  /** Whether another event reports the same change. Remembers ends, so pass each event once. */
  isRepeat(event: EventMessage, seesPro: boolean): boolean {
    // Every flare of `flares.free` is in `flares.pro` too.
    if (seesPro && event.channel === "flares.free" && !isOfFreeOnly(event)) return true;
    return event.name === "flare-finished" && this.#ended.isRepeat(event.data.flare.id);
  }
}

/** Whether a flare enters or leaves the free list while it runs. */
function isOfFreeOnly({ name, data }: EventMessage): boolean {
  return (
    name === "flare-started" ||
    (name === "flare-withdrawn" && (data.cause === "canary" || data.cause === "fallen"))
  );
}

export function withFirst<T>(list: readonly T[], item: T, max: number): readonly T[] {
  return [item, ...list.slice(0, max - 1)];
}

/** Returns the list with `item` at its end, without its oldest items beyond `max`. */
export function withLast<T>(list: readonly T[], item: T, max: number): readonly T[] {
  return [...list.slice(Math.max(0, list.length + 1 - max)), item];
}
