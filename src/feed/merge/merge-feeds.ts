import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import type { FeedFacts, MarketEvent, Origin } from "../../market/index.ts";
import type { Feed, FeedPart } from "../feed.ts";
import { FeedBuffer, MAX_EARLY_MS, type MergedPart, type Slot } from "./feed-buffer.ts";
import { LATE_MS, settleLate } from "./late-event.ts";

/** Options of {@link mergeFeeds}. */
export interface MergeOptions {
  /** Of the whole. */
  readonly name: string;
  /** At least one, of different names. Of events of one place the earlier part's come first. */
  readonly parts: readonly MergedPart[];
  readonly clock: Clock;
  /** From which age on a part counts as stale. Default 15,000. */
  readonly staleAfterMs?: number;
  /** A sentence for the log, and whether it is trouble. */
  readonly onNotice?: (sentence: string, isTrouble: boolean) => void;
}

/** How often it is looked whether a part is still to be waited for. */
const LOOK_EVERY_MS = 250;

/**
 * Several markets as one: all events in one order of time, with one clock, which is that of the slowest. As long as every part is waited for, the order depends on what
 * they tell alone, and not on when it arrives.
 *
 * The wait has a bound: a part that falls ten seconds of event time behind the furthest, and does not gain for three, is waited for no longer; it is again as soon as it has come within
 * the ten. Its events meanwhile, and those of its catching up, come late: up to five seconds they are told as they are, which the engine bears, and beyond that as settleLate says; what is left out is
 * counted. A part that is reading up the past, at the start or after all were cut off, gets a minute. One that fails for good is left out; when all have, so does this.
 *
 * No part of a live market can take the others along into a future: who is furthest counts as no further than this machine's clock is, and what is dated more than a minute ahead of that clock
 * and of all other parts is left out, and told of.
 */
export function mergeFeeds(options: MergeOptions): Feed {
  const { name, parts, clock, staleAfterMs = 15_000 } = options;
  const reports = (): readonly FeedPart[] =>
    merger
      ? merger.report(staleAfterMs)
      : parts.map((part) => new FeedBuffer(part, clock).report(staleAfterMs));
  let merger: Merger | undefined;
  return {
    name,
    origin: originOf(parts),
    facts: factsOf(parts),
    parts: reports,
    trouble: () => {
      const amiss = reports().flatMap((part) => (part.reason === "" ? [] : [`${part.name} ${part.reason}`]));
      return amiss.length === 0 ? undefined : amiss.join("; ");
    },
    services: () => parts.flatMap(({ feed }) => feed.services?.() ?? []),
    events(signal) {
      if (merger) throw new Error("a merged feed can be iterated only once");
      merger = new Merger(options);
      return merger.events(signal);
    },
  };
}

class Merger {
  readonly #options: MergeOptions;
  readonly #lines: readonly FeedBuffer[];
  /** Wall-clock time at the beginning, less monotonic time: a clock that is set back later makes no future of what is told. */
  readonly #offsetMs: number;
  readonly #isLive: boolean;
  readonly #early = new Set<FeedBuffer>();
  #clockAt = Number.NEGATIVE_INFINITY;
  #hasNews = false;
  #isDeaf = false;
  #wake: () => void = () => {};

  constructor(options: MergeOptions) {
    this.#options = options;
    const { parts, clock } = options;
    const onNews = () => {
      this.#hasNews = true;
      this.#wake();
    };
    this.#offsetMs = clock.now() - clock.monotonic();
    this.#isLive = originOf(parts) === "live";
    this.#lines = parts.map(
      (part, index) => new FeedBuffer(part, clock, onNews, () => this.#latestMs(index)),
    );
  }

  report(staleAfterMs: number): readonly FeedPart[] {
    return this.#lines.map((line) => line.report(staleAfterMs));
  }

  async *events(given: AbortSignal): AsyncGenerator<MarketEvent> {
    const over = new AbortController();
    const signal = AbortSignal.any([given, over.signal]);
    const reading = this.#lines.map((line) => this.#read(line, signal));
    try {
      while (!signal.aborted) {
        this.#hasNews = false;
        const line = this.#next();
        if (line) {
          const event = this.#settle(line);
          if (event) yield event;
        } else if (this.#lines.every(({ hasEnded }) => hasEnded)) {
          this.#throwFailure();
          return;
        } else await this.#news(signal);
      }
    } finally {
      over.abort(new DOMException("the feed is left", "AbortError"));
      await Promise.all(reading);
    }
  }

  async #read(line: FeedBuffer, signal: AbortSignal): Promise<void> {
    await line.read(signal);
    if (line.failure !== undefined && !signal.aborted) {
      const { reason } = line.report(0);
      this.#options.onNotice?.(`${line.name} ${reason}; the others go on without it`, true);
    }
  }

  /** The part whose next event is the market's; `undefined` while one is waited for, and where there is none. */
  #next(): FeedBuffer | undefined {
    this.#judge();
    let first: { readonly line: FeedBuffer; readonly place: Slot } | undefined;
    for (const line of this.#lines) {
      const place = line.next;
      if (!place) {
        if (line.holdsWatermark) return undefined;
        continue;
      }
      if (!first || isBefore(place, first.place)) first = { line, place };
    }
    return first?.line;
  }

  /** What time it is; Infinity where the market is none of today: what is replayed or simulated has a time of its own. */
  #nowMs(): number {
    if (!this.#isLive) return Number.POSITIVE_INFINITY;
    const { clock } = this.#options;
    return Math.max(clock.now(), clock.monotonic() + this.#offsetMs);
  }

  /** Event time up to which a part is believed. */
  #latestMs(index: number): number {
    const others = this.#lines.map(({ frontierMs = 0 }, other) => (other === index ? 0 : frontierMs));
    return Math.max(this.#nowMs(), ...others) + MAX_EARLY_MS;
  }

  #judge(): void {
    let furthestMs = Number.NEGATIVE_INFINITY;
    for (const { frontierMs = furthestMs, hasEnded } of this.#lines)
      if (!hasEnded && frontierMs > furthestMs) furthestMs = frontierMs;
    furthestMs = Math.min(furthestMs, this.#nowMs());
    this.#judgeEach(furthestMs);
    const isDeaf = this.#lines.every((line) => !line.holdsWatermark);
    if (isDeaf === this.#isDeaf || this.#lines.every(({ hasEnded }) => hasEnded)) return;
    this.#isDeaf = isDeaf;
    const words = isDeaf
      ? "no part of the market is heard, and nothing new can be told: flarewire doctor tries every endpoint"
      : "the market is heard again";
    this.#options.onNotice?.(words, isDeaf);
  }

  #judgeEach(furthestMs: number): void {
    for (const line of this.#lines) {
      this.#tellEarly(line);
      if (line.hasEnded || !line.judge(furthestMs)) continue;
      const words = line.holdsWatermark
        ? `is in step with the others again; ${line.late} of its trades and candles came too late so far`
        : "is silent or far behind; the others go on without it";
      this.#options.onNotice?.(`${line.name} ${words}`, !line.holdsWatermark);
    }
  }

  #tellEarly(line: FeedBuffer): void {
    if (line.early === 0 || this.#early.has(line)) return;
    this.#early.add(line);
    const words = `is more than ${MAX_EARLY_MS / SECOND_MS} seconds ahead of this machine's clock and of the others`;
    this.#options.onNotice?.(`${line.name} tells what ${words}: that is left out`, true);
  }

  /** The part's next event as it is told; `undefined` where it is not. */
  #settle(line: FeedBuffer): MarketEvent | undefined {
    const event = line.take();
    if (!event) return undefined;
    if (event.kind === "clock") {
      if (event.at <= this.#clockAt) return undefined;
      this.#clockAt = event.at;
      return event;
    }
    if (event.at >= this.#clockAt - LATE_MS) return event;
    if (event.kind === "trade" || event.kind === "candle") line.late += 1;
    return settleLate(event, this.#clockAt);
  }

  #throwFailure(): void {
    const failures = this.#lines.map(({ failure }) => failure).filter((failure) => failure !== undefined);
    if (failures.length < this.#lines.length) return;
    const words = this.#lines.map((line) => `${line.name} ${line.report(0).reason}`).join("; ");
    throw new Error(`no part of the market is left: ${words}`, { cause: failures[0] });
  }

  async #news(signal: AbortSignal): Promise<void> {
    if (this.#hasNews) return;
    const over = new AbortController();
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const { clock } = this.#options;
    const look = clock.sleep(LOOK_EVERY_MS, AbortSignal.any([signal, over.signal])).catch(() => {});
    await Promise.race([news, look]);
    this.#wake = () => {};
    over.abort();
  }
}

function isBefore(one: Slot, other: Slot): boolean {
  return one.at === other.at ? one.phase < other.phase : one.at < other.at;
}

/** What any of them can know: of what a part cannot, its tokens have nothing. */
function factsOf(parts: readonly MergedPart[]): FeedFacts {
  const knows = (fact: keyof FeedFacts) => parts.some(({ feed }) => feed.facts[fact]);
  return {
    trades: knows("trades"),
    liquidity: knows("liquidity"),
    listings: knows("listings"),
    profiles: knows("profiles"),
  };
}

/** The least of what can be promised: a market with a simulated part is simulated. */
function originOf(parts: readonly MergedPart[]): Origin {
  const origins = parts.map(({ feed }) => feed.origin);
  if (origins.includes("simulated")) return "simulated";
  return origins.includes("recorded") ? "recorded" : "live";
}
