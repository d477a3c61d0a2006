import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import { REORDER_MS, TradeIds } from "./trade-ids.ts";
import type { Read, TradeGap, Venue, VenueRequest, VenueTrade } from "./venue.ts";

interface VenueTradesOptions {
  readonly venue: Pick<Venue, "trades">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Returns the exchange's time. */
  readonly nowMs: () => number;
  /** Sends a request; `undefined` if there is no answer. Rejects only with the signal's reason. */
  readonly ask: <T>(request: VenueRequest, read: Read<T>) => Promise<T | undefined>;
  /** Called with each trade once. `isPast`: it was requested, because the stream had missed it. */
  readonly onTrade: (pair: string, trade: VenueTrade, isPast: boolean) => void;
  readonly notify: Notify;
}

interface Request {
  readonly pair: string;
  readonly ids: TradeIds;
  readonly gap: TradeGap;
}

/** Few, because the exchange's candles and lists are requested at the same time. */
const CONCURRENT_REQUESTS = 4;
/** Beyond this number of gaps, the trades of further ones are lost. */
const MAX_REQUESTS = 1_000;
/** Maximum age of a gap. Older trades are of no use to anyone who waits for the present. */
const MAX_WAIT_MS = 2 * MINUTE_MS;
/** A trade that is older, or further in the future, has a wrong time. */
const MAX_AGE_MS = HOUR_MS;
const MAX_EARLY_MS = SECOND_MS;
/** Minimum milliseconds between two reports of missed trades. */
const REPORT_EVERY_MS = 10_000;
/** How long a loss counts as a trouble. */
const TROUBLED_MS = 5 * MINUTE_MS;

/**
 * The trades of one exchange: drops repeated and unusable ones, and requests those that the stream
 * has missed. What cannot be had is reported.
 */
export class VenueTrades {
  /** Number of trades with an unusable field, time or pair, which were dropped. */
  unusable = 0;
  readonly #options: VenueTradesOptions;
  #pairs = new Map<string, TradeIds>();
  readonly #queue: Request[] = [];
  #workers = 0;
  #tally = emptyTally();
  #lostAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: VenueTradesOptions) {
    this.#options = options;
  }

  /** Accepts trades of exactly these pairs from now on. */
  follow(pairs: ReadonlySet<string>): void {
    this.#pairs = new Map([...pairs].map((pair) => [pair, this.#pairs.get(pair) ?? this.#newIds(pair)]));
  }

  /** The stream of these pairs was interrupted, so that trades may be missing. */
  interrupt(pairs: Iterable<string>): void {
    for (const pair of pairs) this.#pairs.get(pair)?.interrupt();
  }

  /** Takes a streamed trade. Returns whether its pair is followed and its time is possible. */
  take(pair: string, trade: VenueTrade): boolean {
    const ids = this.#pairs.get(pair);
    if (!ids || !this.#isTimely(trade)) {
      this.unusable += 1;
      return false;
    }
    const verdict = ids.accept(trade, this.#options.clock.monotonic());
    if (verdict === "repeated") return true;
    if (verdict === "restarted") this.#lose(pair, undefined);
    this.#options.onTrade(pair, trade, false);
    return true;
  }

  #isTimely({ at }: VenueTrade): boolean {
    const nowMs = this.#options.nowMs();
    return at <= nowMs + MAX_EARLY_MS && at >= nowMs - MAX_AGE_MS;
  }

  #newIds(pair: string): TradeIds {
    const ids: TradeIds = new TradeIds((gap) => this.#request({ pair, ids, gap }));
    return ids;
  }

  #request(request: Request): void {
    if (this.#queue.length < MAX_REQUESTS) this.#queue.push(request);
    else {
      this.#lose(request.pair, request.gap.missing);
      request.ids.close(request.gap);
    }
    if (this.#workers >= CONCURRENT_REQUESTS) return;
    this.#workers += 1;
    const end = () => {
      this.#workers -= 1;
      if (this.#workers > 0) return;
      const { clock, signal } = this.#options;
      if (!signal.aborted && clock.monotonic() - this.#reportedAt >= REPORT_EVERY_MS) this.report();
    };
    void this.#work()
      .catch(() => {})
      .finally(end);
  }

  async #work(): Promise<void> {
    const { clock, signal } = this.#options;
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const { pair, ids, gap } = next;
      const waitMs = gap.openedAt + REORDER_MS - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      if (ids.isOpen(gap) && this.#pairs.get(pair) === ids) await this.#fill(next);
    }
  }

  async #fill({ pair, ids, gap }: Request): Promise<void> {
    const { clock, venue, ask, onTrade } = this.#options;
    const { pageSize, maxPages, request, read } = venue.trades;
    this.#tally.missing.add(pair);
    let isComplete = false;
    for (let page = 0; page < maxPages && !isComplete && ids.isOpen(gap); page++) {
      if (clock.monotonic() - gap.openedAt > MAX_WAIT_MS) break;
      const trades = await ask(request(pair, gap, page), read);
      if (!trades) break;
      const timely = trades.filter((trade) => this.#isTimely(trade));
      this.unusable += trades.length - timely.length;
      for (const trade of ids.fill(gap, timely)) {
        this.#tally.received += 1;
        onTrade(pair, trade, true);
      }
      const isLast = trades.length < pageSize;
      isComplete =
        gap.missing === undefined ? isLast || trades.some(({ id }) => id <= gap.afterId) : gap.missing <= 0;
      if (isLast) break;
    }
    if (!isComplete && ids.isOpen(gap)) this.#lose(pair, gap.missing);
    ids.close(gap);
  }

  /** Whether trades of the last minutes are lost, as the second half of a sentence. */
  get trouble(): string | undefined {
    const isRecent = this.#options.clock.monotonic() - this.#lostAt < TROUBLED_MS;
    return isRecent ? "did not return some trades of the last minutes" : undefined;
  }

  #lose(pair: string, trades: number | undefined): void {
    this.#lostAt = this.#options.clock.monotonic();
    this.#tally.missing.add(pair);
    if (trades === undefined) this.#tally.unknown.add(pair);
    else this.#tally.lost += trades;
  }

  /** Reports what was missed, received and lost since the last report. */
  report(): void {
    const { missing, received, lost, unknown } = this.#tally;
    const { unusable } = this;
    this.#tally = emptyTally();
    this.unusable = 0;
    const { clock, notify } = this.#options;
    if (unusable > 0) notify("warn", `sent ${unusable} unusable trades`);
    if (received + lost + unknown.size === 0) return;
    this.#reportedAt = clock.monotonic();
    const words = [
      `was asked for missed trades of ${missing.size} markets and returned ${received}`,
      ...(lost > 0 ? [`${lost} are lost`] : []),
      ...(unknown.size > 0 ? [`an unknown number of ${unknown.size} markets is lost`] : []),
    ];
    notify(lost + unknown.size > 0 ? "warn" : "info", words.join("; "));
  }
}

function emptyTally() {
  return { missing: new Set<string>(), received: 0, lost: 0, unknown: new Set<string>() };
}
