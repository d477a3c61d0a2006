import { systemClock } from "../../../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../../src/base/market/index.ts";
import { type ChainFeedOptions, createChainFeed } from "../../../../src/feeds/chain/chain-feed.ts";
import type { Feed } from "../../../../src/gateway/source/feed.ts";
import { Waiters } from "../../../support/time/waiters.ts";
import type { Exchange } from "./exchange.ts";

/** Reads a chain feed in the background. */
export class Collector implements AsyncDisposable {
  readonly events: MarketEvent[] = [];
  readonly notices: string[] = [];
  readonly feed: Feed;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  readonly #waiters = new Waiters(() => ({ event: this.events.at(-1), notices: this.notices.slice(-3) }));

  constructor(options: Omit<ChainFeedOptions, "clock"> & Partial<Pick<ChainFeedOptions, "clock">>) {
    this.feed = createChainFeed({
      clock: systemClock,
      // Most tests expect the whole past at its own time.
      backfillMs: HOUR_MS,
      presentMs: HOUR_MS,
      pollEveryMs: 100,
      notify: (_level, sentence) => this.notices.push(sentence),
      ...options,
    });
    this.#ended = this.#read(this.feed.events(this.#stop.signal));
    this.#ended.catch(() => undefined);
  }

  /** The events about tokens, except who holds their LP tokens. */
  get facts(): MarketEvent[] {
    return this.events.filter(({ kind }) => kind !== "clock" && kind !== "observed" && kind !== "locks");
  }

  /** Waits until event time reaches `atMs`. Rejects if the feed fails. */
  async reached(atMs: number): Promise<void> {
    const reached = this.#waiters.until(
      () => (this.events.at(-1)?.at ?? 0) >= atMs,
      `event time ${new Date(atMs).toISOString()}`,
    );
    await Promise.race([reached, this.#ended.then(() => reached)]);
  }

  /** Rejects with the feed's error. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ended.catch(() => undefined);
  }

  async #read(events: AsyncIterable<MarketEvent>): Promise<void> {
    for await (const event of events) {
      this.events.push(event);
      this.#waiters.look();
    }
  }
}

/** Mines until all earlier blocks are final. Returns a feed's events over the whole chain. */
export async function eventsOf({
  chain,
  network,
}: Pick<Exchange, "chain" | "network">): Promise<MarketEvent[]> {
  const untilMs = chain.nextAt * 1_000;
  for (let block = 0; block <= network.finalityBlocks; block++) await chain.mine();
  await using collector = new Collector({ network });
  await collector.reached(untilMs);
  return collector.facts;
}
