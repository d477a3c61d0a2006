import type { MarketEvent } from "../../../src/base/market/index.ts";
import { mergeFeeds } from "../../../src/feeds/merge/merge-feeds.ts";
import type { Feed } from "../../../src/gateway/source/feed.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { clock, SECOND, START, ToldFeed } from "./told-feed.ts";

/** Runs all pending work that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A market of two parts, read in the background. */
export class Joined implements AsyncDisposable {
  readonly time: ManualClock;
  readonly bsc = new ToldFeed("bsc");
  readonly exchange = new ToldFeed("exchange");
  readonly notices: string[] = [];
  readonly reported: MarketEvent[] = [];
  readonly feed: Feed;
  readonly #stop = new AbortController();
  readonly ended: Promise<void>;

  constructor(nowS: number) {
    this.time = new ManualClock(START + nowS * SECOND);
    const feed = mergeFeeds({
      name: "live",
      parts: [
        { name: "bsc", feed: this.bsc },
        { name: "exchange", feed: this.exchange },
      ],
      clock: this.time,
      notify: (_level, message) => this.notices.push(message),
    });
    this.feed = feed;
    this.ended = (async () => {
      for await (const event of feed.events(this.#stop.signal)) this.reported.push(event);
    })();
    this.ended.catch(() => {});
  }

  get clockS(): number {
    const at = this.reported.findLast(({ kind }) => kind === "clock")?.at ?? START;
    return (at - START) / SECOND;
  }

  /** Advances second by second. In each, these parts emit their clock. */
  async run(from: number, to: number, parts: readonly ToldFeed[]): Promise<void> {
    for (let second = from; second <= to; second++) {
      for (const part of parts) part.tell(clock(second));
      await settle();
      this.time.advance(SECOND);
      await settle();
    }
  }

  stop(): Promise<void> {
    this.#stop.abort();
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop().catch(() => {});
  }
}
