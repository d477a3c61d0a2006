import type { MarketEvent, TokenEvent } from "../../base/market/index.ts";
import type { ReadFinalBlock } from "./pool-lookup.ts";
import type { ReadBlock } from "./pools/block-translator.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";

interface PastFillOptions {
  readonly pool: EndpointPool;
  /** Opens the past blocks, in order. The next one is read only when `pause` has resolved. */
  readonly open: (pause: () => Promise<void>) => Promise<AsyncIterable<ReadFinalBlock>>;
  readonly translate: (block: ReadBlock, isReplacement: boolean) => readonly MarketEvent[];
  /** Event time at which the past starts. */
  readonly fromMs: number;
  /** Event time at which the present starts. */
  readonly toMs: number;
  /** Whether the present is waiting for its next block. */
  readonly isIdle: () => boolean;
}

/** Reading pauses while at least this many events wait for the next present block. */
const MAX_WAITING = 10_000;
const POLL_EVERY_MS = 250;

/**
 * Reads a chain's past while its present is followed. A past block is read only while the present
 * waits for its next block. The events are published with that block and carry its time: trades as
 * past trades, listings with their own time, and the liquidity and holders of pools that the
 * present has not reported.
 */
export class PastFill {
  readonly #options: PastFillOptions;
  /** Liquidity that the present reported, by pool and token. */
  readonly #reported = new Map<string, string>();
  /** Pools whose holders the present reported. */
  readonly #hasLocks = new Set<string>();
  #waiting: TokenEvent[] = [];
  #readToMs: number;
  #isRead = false;

  constructor(options: PastFillOptions) {
    this.#options = options;
    this.#readToMs = options.fromMs;
  }

  /** How much of the past has been read, in milliseconds of event time. */
  get readMs(): number {
    const { fromMs, toMs } = this.#options;
    return Math.max(0, Math.min(toMs, this.#readToMs) - fromMs);
  }

  /** Whether the whole past was read and taken. */
  get isDone(): boolean {
    return this.#isRead && this.#waiting.length === 0;
  }

  /** Reads up to the start of the present. Rejects if reading fails or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { pool, open, translate, isIdle, toMs } = this.#options;
    const pause = async () => {
      while (!isIdle() || this.#waiting.length >= MAX_WAITING) await pool.changed(POLL_EVERY_MS, signal);
    };
    await pause();
    for await (const { block, read, isReplacement } of await open(pause)) {
      for (const event of translate(read, isReplacement)) if ("token" in event) this.#waiting.push(event);
      this.#readToMs = block.atMs;
      await pause();
    }
    this.#readToMs = toMs;
    this.#isRead = true;
  }

  /** Notes an event of the present, which is more recent than any of the past. */
  note(event: MarketEvent): void {
    if (event.kind === "liquidity") this.#reported.set(`${event.pool} ${event.token}`, event.usd);
    if (event.kind === "locks") this.#hasLocks.add(event.pool);
    if (event.kind === "listing") this.#reported.set(`${event.pool} ${event.token}`, event.liquidity);
  }

  /** Returns what was read since the last call, dated `at`. */
  take(at: number): readonly MarketEvent[] {
    const events = this.#waiting;
    this.#waiting = [];
    return events.flatMap((event) => this.#asOf(event, at));
  }

  #asOf(event: TokenEvent, at: number): readonly MarketEvent[] {
    switch (event.kind) {
      case "trade":
        return [{ ...event, at, tradedAt: event.at }];
      case "listing": {
        const liquidity = this.#reported.get(`${event.pool} ${event.token}`) ?? event.liquidity;
        return [{ ...event, at, listedAt: event.at, liquidity }];
      }
      case "liquidity":
        // An old removal is no news: only the remaining liquidity counts.
        return this.#reported.has(`${event.pool} ${event.token}`) ? [] : [{ ...event, at, cause: "sync" }];
      case "locks":
        return this.#hasLocks.has(event.pool) ? [] : [{ ...event, at }];
      case "profile":
      case "candle":
      case "window":
        return [{ ...event, at }];
    }
  }
}

/** Yields a source's items. Waits for `pause` before it reads the next one. */
export async function* paced<T>(source: AsyncIterable<T>, pause: () => Promise<void>): AsyncGenerator<T> {
  for await (const item of source) {
    yield item;
    await pause();
  }
}
