import type { Notify } from "../../lib/notify.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import { waitAtMost } from "../../lib/time/wait-at-most.ts";
import type { FeedFacts, MarketEvent, Origin } from "../../market/index.ts";
import type { Feed, FeedPart } from "../feed.ts";
import { FeedBuffer, IN_STEP_MS, MAX_EARLY_MS, type MergedPart, type Slot } from "./feed-buffer.ts";
import { LATE_MS, settleLate } from "./late-event.ts";

interface MergeOptions {
  /** Name of the merged market. */
  readonly name: string;
  /**
   * At least one part, with different names. At equal positions, events of earlier parts come
   * first.
   */
  readonly parts: readonly MergedPart[];
  readonly clock: Clock;
  /** Age at which a part counts as stale. Default 15,000. */
  readonly staleAfterMs?: number;
  /** Receives a sentence for the log, and whether it reports trouble. */
  readonly notify?: Notify;
}

/** How often the merge checks whether to keep waiting for a part. */
const LOOK_EVERY_MS = 250;
/** How long all parts may take for their first event before that is reported. */
const START_MS = 15 * SECOND_MS;
/** The same, if all of them have trouble. */
const TROUBLED_START_MS = 3 * SECOND_MS;
/** What to do if no part has data. */
const HINT = "run flarewire doctor, which checks every endpoint";

/**
 * Merges several markets into one: all events in one order of time, with one clock, that of the
 * slowest part. While every part is waited for, the order depends only on their events, not on when
 * they arrive.
 *
 * The wait is bounded. A part that falls ten seconds of event time behind the furthest, and does
 * not catch up for three, is no longer waited for, until it is within the ten again. One that is
 * more than a minute behind is not waited for at all. Its events meanwhile are late: up to five
 * seconds they pass unchanged, which the engine accepts; beyond that settleLate decides, and
 * dropped events are counted. A part that fails for good is left out; if all have, the merge fails.
 *
 * No part of a live market can move the others into the future. The furthest part counts as no
 * further than this machine's clock. Events dated more than a minute ahead of that clock and of all
 * other parts are dropped and reported.
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
      const reasons = reports().flatMap(({ reason }) => (reason === "" ? [] : [reason]));
      return reasons.length === 0 ? undefined : reasons.join("; ");
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
  /**
   * Wall-clock time at the start, less monotonic time, so that a clock that is set back later turns
   * no event into a future one.
   */
  readonly #offsetMs: number;
  readonly #isLive: boolean;
  readonly #beganAt: number;
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
    this.#beganAt = clock.monotonic();
    this.#offsetMs = clock.now() - this.#beganAt;
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
      over.abort(new DOMException("the feed was closed", "AbortError"));
      await Promise.all(reading);
    }
  }

  async #read(line: FeedBuffer, signal: AbortSignal): Promise<void> {
    await line.read(signal);
    if (line.failure !== undefined && !signal.aborted) {
      const { reason } = line.report(0);
      this.#options.notify?.("warn", `${reason}; continuing without it`);
    }
  }

  /**
   * Returns the part with the market's next event; `undefined` while waiting for a part, or if
   * there is none.
   */
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

  /** Returns the present; Infinity for a replayed or simulated market, which has its own time. */
  #nowMs(): number {
    if (!this.#isLive) return Number.POSITIVE_INFINITY;
    const { clock } = this.#options;
    return Math.max(clock.now(), clock.monotonic() + this.#offsetMs);
  }

  /** Latest event time that is accepted from a part. */
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
    const isDeaf = this.#lines.every(({ frontierMs }) => frontierMs === undefined)
      ? this.#hasFailedToStart()
      : this.#lines.every((line) => !line.holdsWatermark);
    if (isDeaf === this.#isDeaf || this.#lines.every(({ hasEnded }) => hasEnded)) return;
    this.#isDeaf = isDeaf;
    const words = isDeaf
      ? `no part of the market responds, so there is no new data; ${HINT}`
      : "the market responds again";
    this.#options.notify?.(isDeaf ? "warn" : "info", words);
  }

  #hasFailedToStart(): boolean {
    const elapsedMs = this.#options.clock.monotonic() - this.#beganAt;
    const areTroubled = () => this.#options.parts.every(({ feed }) => feed.trouble?.() !== undefined);
    return elapsedMs > START_MS || (elapsedMs > TROUBLED_START_MS && areTroubled());
  }

  #judgeEach(furthestMs: number): void {
    for (const line of this.#lines) {
      this.#reportEarly(line);
      if (line.hasEnded || !line.judge(furthestMs)) continue;
      const words = line.holdsWatermark
        ? `has caught up with the rest of the market; ${line.late} of its reports came too late so far`
        : line.wasInStep
          ? `is silent or more than ${IN_STEP_MS / SECOND_MS} s behind the rest of the market; continuing without it`
          : line.frontierMs === undefined
            ? "has no data yet; starting without it"
            : `is more than ${IN_STEP_MS / SECOND_MS} s behind the rest of the market; starting without it`;
      const isProblem = !line.holdsWatermark && line.wasInStep;
      this.#options.notify?.(isProblem ? "warn" : "info", `${line.name} ${words}`);
    }
  }

  #reportEarly(line: FeedBuffer): void {
    if (line.early === 0 || this.#early.has(line)) return;
    this.#early.add(line);
    const words = `more than ${MAX_EARLY_MS / SECOND_MS} seconds ahead of this machine's clock and of the others`;
    this.#options.notify?.("warn", `${line.name} sends events ${words}; dropping them`);
  }

  /** Returns the part's next event as it is published; `undefined` if it is dropped. */
  #settle(line: FeedBuffer): MarketEvent | undefined {
    const event = line.take();
    if (!event) return undefined;
    if (event.kind === "clock") {
      if (event.at <= this.#clockAt) return undefined;
      this.#clockAt = event.at;
      return event;
    }
    if (event.at >= this.#clockAt - LATE_MS) return event;
    const settled = settleLate(event, this.#clockAt);
    if (!settled) line.late += 1;
    return settled;
  }

  #throwFailure(): void {
    const failures = this.#lines.map(({ failure }) => failure).filter((failure) => failure !== undefined);
    if (failures.length < this.#lines.length) return;
    const words = this.#lines.map((line) => line.report(0).reason).join("; ");
    throw new Error(`no part of the market is left: ${words}`, { cause: failures[0] });
  }

  async #news(signal: AbortSignal): Promise<void> {
    if (this.#hasNews) return;
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await waitAtMost(news, LOOK_EVERY_MS, this.#options.clock, signal).catch(() => {});
    this.#wake = () => {};
  }
}

function isBefore(one: Slot, other: Slot): boolean {
  return one.at === other.at ? one.phase < other.phase : one.at < other.at;
}

/** Returns what any part can know. Tokens of a part that cannot know a fact lack it. */
function factsOf(parts: readonly MergedPart[]): FeedFacts {
  const knows = (fact: keyof FeedFacts) => parts.some(({ feed }) => feed.facts[fact]);
  return {
    trades: knows("trades"),
    liquidity: knows("liquidity"),
    listings: knows("listings"),
    profiles: knows("profiles"),
  };
}

/** Returns the weakest origin: a market with a simulated part is simulated. */
function originOf(parts: readonly MergedPart[]): Origin {
  const origins = parts.map(({ feed }) => feed.origin);
  if (origins.includes("simulated")) return "simulated";
  return origins.includes("recorded") ? "recorded" : "live";
}
