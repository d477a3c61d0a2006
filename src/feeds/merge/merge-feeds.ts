import type { Notify } from "../../base/lib/notify.ts";
import { ownCommand } from "../../base/lib/own-command.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import type { FeedFacts, MarketEvent, Origin } from "../../base/market/index.ts";
import type { Feed, FeedPart } from "../../gateway/source/index.ts";
import { createForwardTime } from "../forward-time.ts";
import type { HeadLag } from "../head-lag.ts";
import { FeedBuffer, IN_STEP_MS, MAX_EARLY_MS, type MergedPart, type Slot } from "./feed-buffer.ts";

interface MergeOptions {
  /** Name of the merged market. */
  readonly name: string;
  /**
   * At least one part, with different names. At equal positions, events of earlier parts come
   * first.
   */
  readonly parts: readonly MergedPart[];
  readonly clock: Clock;
  /** Age at which a part counts as stale, in milliseconds. Default 15,000. */
  readonly staleAfterMs?: number;
  readonly notify?: Notify;
  /** Where the parts report their time. Default: nothing measures it. */
  readonly lag?: HeadLag | undefined;
}

/** How late an event may be and still keep its own time. The engine accepts the same. */
export const LATE_MS = 5_000;
/** How often the merge checks whether to keep waiting for a part. */
const POLL_EVERY_MS = 250;
/** How long the first event of any part may take before that is reported. */
const START_MS = 15 * SECOND_MS;
/** The same, if all of them report trouble. */
const TROUBLED_START_MS = 3 * SECOND_MS;
/** Advice for a market without data. */
const HINT = `try ${ownCommand("doctor")}, which checks every endpoint`;

/**
 * Merges several markets into one: all events in one order of time, with one clock, which follows
 * the slowest part that the merge waits for. While it waits for every part, the order depends only
 * on their events, not on when they arrive.
 *
 * The wait is bounded. A part's first event may take five seconds. A part may be ten seconds of
 * event time behind the furthest one. Beyond that, it must gain at least 0.75 s on real time in
 * three seconds. Otherwise the merge continues without it until it is within ten seconds again. If
 * it is more than a minute behind, the merge does not wait at all.
 *
 * The events of a part that the merge does not wait for are late. Those that are at most five
 * seconds late pass unchanged, because the engine accepts them. For later ones settleLate decides,
 * and dropped events are counted. The merge continues without a part that has ended. If all have
 * failed, the merge fails.
 *
 * No part of a live market can move the others into the future. The furthest part counts as no
 * further than this machine's clock. Events dated more than a minute ahead of that clock and of all
 * other parts are dropped, and the first one is reported.
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
    behindMs: () => merger?.behindMs(staleAfterMs) ?? 0,
    replaced: () => Object.assign({}, ...parts.map(({ feed }) => feed.replaced?.())),
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
  readonly #buffers: readonly FeedBuffer[];
  /** The current time. Never decreases, so that a clock set back makes no event look early. */
  readonly #forwardMs: () => number;
  readonly #isLive: boolean;
  readonly #beganAt: number;
  readonly #early = new Set<FeedBuffer>();
  #clockAt = Number.NEGATIVE_INFINITY;
  #hasNews = false;
  #isSilent = false;
  #wake: () => void = () => {};

  constructor(options: MergeOptions) {
    this.#options = options;
    const { parts, clock, lag } = options;
    const onNews = () => {
      this.#hasNews = true;
      this.#wake();
    };
    this.#beganAt = clock.monotonic();
    this.#forwardMs = createForwardTime(clock);
    this.#isLive = originOf(parts) === "live";
    this.#buffers = parts.map(
      (part, index) => new FeedBuffer(part, clock, onNews, () => this.#latestMs(index), lag),
    );
  }

  report(staleAfterMs: number): readonly FeedPart[] {
    return this.#buffers.map((buffer) => buffer.report(staleAfterMs));
  }

  /** How far the best of the parts that report is behind. Without one, the market is silent: 0. */
  behindMs(staleAfterMs: number): number {
    const moving = this.#buffers.filter(
      ({ hasEnded, frontierMs, waitedMs }) =>
        !hasEnded && frontierMs !== undefined && waitedMs <= staleAfterMs,
    );
    return moving.length === 0 ? 0 : Math.min(...moving.map(({ behindMs }) => behindMs));
  }

  async *events(outer: AbortSignal): AsyncGenerator<MarketEvent> {
    const over = new AbortController();
    const signal = AbortSignal.any([outer, over.signal]);
    const reading = this.#buffers.map((buffer) => this.#read(buffer, signal));
    try {
      while (!signal.aborted) {
        this.#hasNews = false;
        const buffer = this.#next();
        if (buffer) {
          const event = this.#settle(buffer);
          if (event) yield event;
        } else if (this.#buffers.every(({ hasEnded }) => hasEnded)) {
          this.#throwFailure();
          return;
        } else await this.#news(signal);
      }
    } finally {
      over.abort(new DOMException("the feed was closed", "AbortError"));
      await Promise.all(reading);
    }
  }

  async #read(buffer: FeedBuffer, signal: AbortSignal): Promise<void> {
    await buffer.read(signal);
    if (buffer.failure !== undefined && !signal.aborted) {
      const { reason } = buffer.report(0);
      this.#options.notify?.("warn", `${reason}; continuing without it`);
    }
  }

  /**
   * Returns the part with the market's next event; `undefined` while waiting for a part, or if
   * there is none.
   */
  #next(): FeedBuffer | undefined {
    this.#judge();
    let first: { readonly buffer: FeedBuffer; readonly slot: Slot } | undefined;
    for (const buffer of this.#buffers) {
      const slot = buffer.next;
      if (!slot) {
        if (buffer.isAwaited) return undefined;
        continue;
      }
      if (!first || isBefore(slot, first.slot)) first = { buffer, slot };
    }
    return first?.buffer;
  }

  /** Returns the present; Infinity for a replayed or simulated market, which has its own time. */
  #nowMs(): number {
    if (!this.#isLive) return Number.POSITIVE_INFINITY;
    return this.#forwardMs();
  }

  /** Latest event time that is accepted from a part. */
  #latestMs(index: number): number {
    const others = this.#buffers.map(({ frontierMs = 0 }, other) => (other === index ? 0 : frontierMs));
    return Math.max(this.#nowMs(), ...others) + MAX_EARLY_MS;
  }

  #judge(): void {
    let furthestMs = Number.NEGATIVE_INFINITY;
    for (const { frontierMs = furthestMs, hasEnded } of this.#buffers)
      if (!hasEnded && frontierMs > furthestMs) furthestMs = frontierMs;
    furthestMs = Math.min(furthestMs, this.#nowMs());
    this.#judgeEach(furthestMs);
    const isSilent = this.#buffers.every(({ frontierMs }) => frontierMs === undefined)
      ? this.#hasFailedToStart()
      : this.#buffers.every((buffer) => !buffer.isAwaited);
    if (isSilent === this.#isSilent || this.#buffers.every(({ hasEnded }) => hasEnded)) return;
    this.#isSilent = isSilent;
    const words = isSilent
      ? `no part of the market responds, so there is no new data; ${HINT}`
      : "the market responds again";
    this.#options.notify?.(isSilent ? "warn" : "info", words);
  }

  #hasFailedToStart(): boolean {
    const elapsedMs = this.#options.clock.monotonic() - this.#beganAt;
    const areTroubled = () => this.#options.parts.every(({ feed }) => feed.trouble?.() !== undefined);
    return elapsedMs > START_MS || (elapsedMs > TROUBLED_START_MS && areTroubled());
  }

  #judgeEach(furthestMs: number): void {
    for (const buffer of this.#buffers) {
      this.#reportEarly(buffer);
      if (buffer.hasEnded || !buffer.judge(furthestMs)) continue;
      if (!buffer.isAwaited) this.#options.lag?.released();
      const words = buffer.isAwaited
        ? `has caught up with the rest of the market; ${buffer.late} of its reports came too late so far`
        : buffer.wasInStep
          ? `is silent or more than ${IN_STEP_MS / SECOND_MS} s behind the rest of the market; continuing without it`
          : buffer.frontierMs === undefined
            ? "has no data yet; starting without it"
            : `is more than ${IN_STEP_MS / SECOND_MS} s behind the rest of the market; starting without it`;
      const isProblem = !buffer.isAwaited && buffer.wasInStep;
      this.#options.notify?.(isProblem ? "warn" : "info", `${buffer.name} ${words}`);
    }
  }

  #reportEarly(buffer: FeedBuffer): void {
    if (buffer.early === 0 || this.#early.has(buffer)) return;
    this.#early.add(buffer);
    const words = `more than ${MAX_EARLY_MS / SECOND_MS} seconds ahead of this machine's clock and of the others`;
    this.#options.notify?.("warn", `${buffer.name} sends events ${words}; dropping them`);
  }

  /** Returns the part's next event as it is published; `undefined` if it is dropped. */
  #settle(buffer: FeedBuffer): MarketEvent | undefined {
    const event = buffer.take();
    if (!event) return undefined;
    if (event.kind === "clock") {
      if (event.at <= this.#clockAt) return undefined;
      this.#clockAt = event.at;
      return event;
    }
    if (event.at >= this.#clockAt - LATE_MS) return event;
    const settled = settleLate(event, this.#clockAt);
    if (!settled) buffer.late += 1;
    return settled;
  }

  #throwFailure(): void {
    const failures = this.#buffers.map(({ failure }) => failure).filter((failure) => failure !== undefined);
    if (failures.length < this.#buffers.length) return;
    const words = this.#buffers.map((buffer) => buffer.report(0).reason).join("; ");
    throw new Error(`no part of the market is left: ${words}`, { cause: failures[0] });
  }

  async #news(signal: AbortSignal): Promise<void> {
    if (this.#hasNews) return;
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await waitAtMost(news, POLL_EVERY_MS, this.#options.clock, signal).catch(() => {});
    this.#wake = () => {};
  }
}

/**
 * Returns a replacement for an event that is too late to keep its own time, dated `atMs`, the
 * market's current time; `undefined` to drop it. Trades, candles and listings still state when they
 * happened, because an outage's events, replayed as new, would look like a rush. A pool's liquidity
 * and a token's profile still hold. An aggregator's reports are dropped.
 */
function settleLate(event: MarketEvent, atMs: number): MarketEvent | undefined {
  switch (event.kind) {
    case "trade":
      return { ...event, at: atMs, tradedAt: event.tradedAt ?? event.at };
    case "window":
    case "clock":
      return undefined;
    case "candle":
    case "profile":
    case "observed":
    case "liquidity":
    case "locks":
      return { ...event, at: atMs };
    case "listing":
      return { ...event, at: atMs, listedAt: event.listedAt ?? event.at };
  }
}

function isBefore(one: Slot, other: Slot): boolean {
  return one.at === other.at ? one.phase < other.phase : one.at < other.at;
}

/** Returns the facts that at least one part reports. Tokens of the other parts lack them. */
function factsOf(parts: readonly MergedPart[]): FeedFacts {
  const reports = (fact: keyof FeedFacts) => parts.some(({ feed }) => feed.facts[fact]);
  return {
    trades: reports("trades"),
    liquidity: reports("liquidity"),
    listings: reports("listings"),
    profiles: reports("profiles"),
  };
}

/** Returns the weakest origin: a market with a simulated part is simulated. */
function originOf(parts: readonly MergedPart[]): Origin {
  const origins = parts.map(({ feed }) => feed.origin);
  if (origins.includes("simulated")) return "simulated";
  return origins.includes("recorded") ? "recorded" : "live";
}
