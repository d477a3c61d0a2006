import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import type { MarketEvent, MarketGroup, TokenEvent } from "../../base/market/index.ts";
import { isAdditional } from "../../base/model/index.ts";
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

/** Maximum requests in a round. The service allows about 30 a minute. */
const MAX_REQUESTS = 24;
/** Pages of each list of an additional group. Of other groups, only the first is requested. */
const MAX_PAGES = 3;
/** How often the first pages are requested. The service renews them each minute. */
const ROUND_MS = MINUTE_MS;
/**
 * Number of the first requests, at most those of the first round. They follow each other fast,
 * because the start needs data.
 */
const FIRST_REQUESTS = 6;
const FIRST_PAUSE_MS = 500;
/** How long only first pages are requested after a refusal of too many requests. */
const SPARING_MS = 10 * MINUTE_MS;
/** Without a valid answer for this long, event time stops, so that the age of the data shows. */
const SILENT_MS = 150_000;
/** A pool younger than this is a new listing. */
const NEW_MS = 15 * MINUTE_MS;
/** Minimum dollars in a new pool, the same as for a chain's listings. */
const LISTING_USD = 1_000;
/** Maximum number of tokens and of pools that are remembered. */
const MAX_REMEMBERED = 20_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** A page of a list. */
interface Page {
  readonly network: AggregatedNetwork;
  readonly list: List;
  readonly page: number;
}

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
  /** Monotonic time until which only first pages are requested. */
  #sparingUntilMs = Number.NEGATIVE_INFINITY;
  /** Number of further pages that were requested. */
  #furtherPages = 0;
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

  get #isSparing(): boolean {
    return this.#options.clock.monotonic() < this.#sparingUntilMs;
  }

  /** Requests only first pages for a while. */
  #spare(): void {
    const { clock, networks, notify } = this.#options;
    if (!this.#isSparing && networks.some(({ group }) => isAdditional(group)))
      notify?.("warn", `requesting only GeckoTerminal's first pages for ${SPARING_MS / MINUTE_MS} minutes`);
    this.#sparingUntilMs = clock.monotonic() + SPARING_MS;
  }

  /** Requests the pages of each round: quickly at the start, evenly spread later. */
  async #poll(): Promise<void> {
    const { clock } = this.#options;
    for (let requests = 1; !this.#signal.aborted; ) {
      const round = this.#nextRound();
      for (const page of round) {
        const askedAt = clock.monotonic();
        if (page.page === 1 || !this.#isSparing) await this.#ask(page);
        const tookMs = clock.monotonic() - askedAt;
        const restMs =
          (requests < Math.min(FIRST_REQUESTS, round.length) ? FIRST_PAUSE_MS : ROUND_MS / round.length) -
          tookMs;
        await clock.sleep(Math.max(0, restMs), this.#signal);
        requests += 1;
      }
    }
  }

  /**
   * Returns the first pages of all lists, default groups first. Additional groups' further pages
   * take turns in the requests that are left.
   */
  #nextRound(): readonly Page[] {
    const { networks } = this.#options;
    const additional = networks.filter(({ group }) => isAdditional(group));
    const defaults = networks.filter((network) => !additional.includes(network));
    const pagesOf = (some: readonly AggregatedNetwork[], page: number) =>
      LISTS.flatMap((list) => some.map((network) => ({ network, list, page })));
    const first = [...pagesOf(defaults, 1), ...pagesOf(additional, 1)];
    if (this.#isSparing) return first;
    const further = Array.from({ length: MAX_PAGES - 1 }, (_, index) =>
      pagesOf(additional, index + 2),
    ).flat();
    const count = Math.min(further.length, MAX_REQUESTS - first.length);
    const from = this.#furtherPages;
    this.#furtherPages += count;
    const turns = Array.from({ length: count }, (_, at) => (from + at) % further.length);
    return [...first, ...turns.flatMap((turn) => further[turn] ?? [])];
  }

  async #ask({ network, list, page }: Page): Promise<void> {
    const { clock, url } = this.#options;
    const outcome = await this.client.ask(
      {
        url: listUrl(url, network, list, page),
        read: (body, unread) => readPools(body, network, clock.now(), unread),
        tries: 1,
      },
      this.#signal,
    );
    if (outcome.kind === "failed" && outcome.isRate) this.#spare();
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
