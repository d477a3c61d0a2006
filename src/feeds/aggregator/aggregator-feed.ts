import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import type { MarketEvent, MarketGroup, TokenEvent } from "../../base/market/index.ts";
import type { Feed } from "../../gateway/source/index.ts";
import { eventsOnce } from "../events-once.ts";
import { createForwardTime } from "../forward-time.ts";
import { ServiceClient } from "../service/service-client.ts";
import { ACCEPT, type AggregatedNetwork, LISTS, type List, listUrl, readPools } from "./gecko-terminal.ts";

interface AggregatorFeedOptions {
  readonly url: string;
  readonly networks: readonly AggregatedNetwork[];
  /** Groups for which no chain feed reports listings. */
  readonly listings: ReadonlySet<MarketGroup>;
  readonly clock: Clock;
  /** Returns [0, 1). Default `Math.random`. */
  readonly random?: () => number;
  readonly fetch?: typeof fetch;
  readonly notify?: Notify;
}

/**
 * Minimum time between two requests after the first round: ten a minute, a third of what the
 * service allows.
 */
const PAUSE_MS = 6_000;
/** How often each list is requested. The service renews it each minute. */
const ROUND_MS = MINUTE_MS;
/** Time between requests of the first round. Short, because the start needs data soon. */
const FIRST_PAUSE_MS = 500;
/** Without a valid answer for this long, event time stops, so that the age of the data shows. */
const SILENT_MS = 150_000;
/** A pool younger than this is a new listing. */
const NEW_MS = 15 * MINUTE_MS;
/** Minimum dollars in a new pool, the same as for a chain's listings. */
const LISTING_USD = 1_000;
/** Maximum number of tokens and of pools that are remembered. */
const MAX_REMEMBERED = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Follows an aggregator's trending and new pools. Each minute, it reports the counts of each pool
 * in the lists as `window` events, tokens' new or changed profiles, and new pools as listings. It
 * starts with the present, because a report contains its own past. Event time starts with the first
 * valid answer, and stops while none has arrived for {@link SILENT_MS}. Ends only if its signal
 * aborts, and never throws.
 */
export function createAggregatorFeed(options: AggregatorFeedOptions): Feed {
  let run: AggregatorRun | undefined;
  return {
    name: "aggregator",
    origin: "live",
    facts: { trades: false, liquidity: true, listings: options.listings.size > 0, profiles: true },
    trouble: () => run?.trouble,
    services: () => (run ? [run.client.report("aggregator", "geckoterminal")] : []),
    events: eventsOnce("the aggregator feed", (signal) => {
      run = new AggregatorRun(options, signal);
      return run.events();
    }),
  };
}

class AggregatorRun {
  readonly client: ServiceClient;
  readonly #options: AggregatorFeedOptions;
  readonly #signal: AbortSignal;
  readonly #waiting: TokenEvent[] = [];
  /** The last profile of each token, as JSON without its time. */
  readonly #profiles = new BoundedMap<string, string>(MAX_REMEMBERED);
  /** Pools that were reported as listings. */
  readonly #listed = new BoundedMap<string, true>(MAX_REMEMBERED);
  /** Monotonic time of the last valid answer. */
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: AggregatorFeedOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    const { clock, random, fetch, notify } = options;
    this.client = new ServiceClient({
      clock,
      pauseMs: FIRST_PAUSE_MS,
      maxBytes: MAX_ANSWER_BYTES,
      headers: { accept: ACCEPT },
      random,
      fetch,
      onHealth: (trouble) =>
        trouble === undefined
          ? notify?.("info", "GeckoTerminal responds again")
          : notify?.("warn", `GeckoTerminal ${trouble}`),
    });
  }

  get trouble(): string | undefined {
    const { complaint } = this.client;
    return complaint === undefined ? undefined : `GeckoTerminal ${complaint}`;
  }

  async *events(): AsyncGenerator<MarketEvent> {
    const { clock } = this.#options;
    void this.#poll().catch(() => {});
    while (this.#answeredAtMs === Number.NEGATIVE_INFINITY) await clock.sleep(FIRST_PAUSE_MS, this.#signal);
    const timeMs = createForwardTime(clock);
    let clockAt = startOf(SECOND_MS, timeMs());
    yield { kind: "clock", at: clockAt };
    while (!this.#signal.aborted) {
      const nowMs = startOf(SECOND_MS, timeMs());
      const isHeard = clock.monotonic() - this.#answeredAtMs < SILENT_MS;
      if (isHeard && nowMs > clockAt) {
        clockAt = nowMs;
        yield { kind: "clock", at: nowMs };
        for (const event of this.#waiting.splice(0)) yield { ...event, at: nowMs };
      }
      await clock.sleep(SECOND_MS - (clock.now() % SECOND_MS), this.#signal);
    }
  }

  /** Requests each list once a round: quickly in the first round, evenly spread in later ones. */
  async #poll(): Promise<void> {
    const { clock, networks } = this.#options;
    const lists = LISTS.flatMap((list) => networks.map((network) => ({ network, list })));
    const pauseMs = Math.max(PAUSE_MS, ROUND_MS / lists.length);
    for (let requests = 1; !this.#signal.aborted; ) {
      for (const { network, list } of lists) {
        const askedAt = clock.monotonic();
        await this.#ask(network, list);
        const tookMs = clock.monotonic() - askedAt;
        const restMs = (requests < lists.length ? FIRST_PAUSE_MS : pauseMs) - tookMs;
        await clock.sleep(Math.max(0, restMs), this.#signal);
        requests += 1;
      }
    }
  }

  async #ask(network: AggregatedNetwork, list: List): Promise<void> {
    const { clock, url } = this.#options;
    const outcome = await this.client.ask(
      {
        url: listUrl(url, network, list),
        read: (body, unread) => readPools(body, network, clock.now(), unread),
        tries: 1,
      },
      this.#signal,
    );
    if (outcome.kind !== "ok") return;
    this.#answeredAtMs = clock.monotonic();
    for (const { report, profile } of outcome.value) {
      if (this.#noteProfile(profile)) this.#waiting.push(profile);
      this.#waiting.push(report);
      if (this.#noteListing(report)) {
        const { group, pool, token, at, liquidity, createdAt = at } = report;
        this.#waiting.push({ kind: "listing", at, listedAt: createdAt, group, pool, token, liquidity });
      }
    }
  }

  /** Remembers a token's profile. Returns whether it is new or changed. */
  #noteProfile({ at: _, ...facts }: Extract<MarketEvent, { kind: "profile" }>): boolean {
    const text = JSON.stringify(facts);
    return !remember(this.#profiles, `${facts.group} ${facts.token}`, text);
  }

  /** Remembers the report's pool if it is a new listing. Returns whether to report that. */
  #noteListing({ group, pool, at, createdAt, liquidity }: Extract<MarketEvent, { kind: "window" }>): boolean {
    const isNew = createdAt !== undefined && at - createdAt < NEW_MS && Number(liquidity) >= LISTING_USD;
    return isNew && this.#options.listings.has(group) && !remember(this.#listed, `${group} ${pool}`, true);
  }
}

/** Stores the value under the key. Returns whether the key had this value already. */
function remember<V>(map: Map<string, V>, key: string, value: V): boolean {
  const isKnown = map.get(key) === value;
  map.set(key, value);
  return isKnown;
}
