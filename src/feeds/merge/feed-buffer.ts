import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import { untilAborted } from "../../base/lib/time/until-aborted.ts";
import type { MarketEvent } from "../../base/market/index.ts";
import type { Feed, FeedPart } from "../../gateway/source/index.ts";
import type { HeadLag } from "../head-lag.ts";
import { StickyThreshold } from "../service/sticky-threshold.ts";

export interface MergedPart {
  /** Name for messages, metrics and `/readyz`: `bsc`, `exchange`. */
  readonly name: string;
  readonly feed: Feed;
}

/**
 * A part at most this far behind the furthest one, in event time, is in step, and the merge waits
 * for it. IN_STEP_MS + PATIENCE_MS must be less than the age at which data counts as stale.
 */
export const IN_STEP_MS = 10 * SECOND_MS;
/**
 * The merge also waits for a part that is further behind, as long as it catches up: in each span of
 * PATIENCE_MS, it must gain this share of the span on real time.
 */
const GAIN = 1 / 4;
const PATIENCE_MS = 3 * SECOND_MS;
/** A part further behind than this does not delay the others: it catches up while they continue. */
const FAR_MS = MINUTE_MS;
/** How long the merge waits for a part's first event. */
export const FIRST_EVENT_MS = 5 * SECOND_MS;
/** An event further ahead of this machine's clock and of all other parts has a wrong date. */
export const MAX_EARLY_MS = MINUTE_MS;
/** Maximum number of events per part that are read ahead of the market. */
const MAX_AHEAD = 20_000;
/** Number of dropped events after which other parts get their turn. */
const REST_AFTER = 1_024;

/**
 * Position of an event in the market: by time `at`, then by `phase`. At the same time, phase 0 has
 * the events that a part sends before its `clock` event, 1 the `clock` events, 2 the rest.
 */
export interface Slot {
  readonly at: number;
  readonly phase: 0 | 1 | 2;
}

/** A part's events that were not taken yet, its progress, and whether the merge waits for it. */
export class FeedBuffer {
  readonly name: string;
  /** Number of events dropped so far because they were too late. */
  late = 0;
  /** Number of events dropped so far because they were dated too far ahead. */
  early = 0;
  readonly #feed: Feed;
  readonly #clock: Clock;
  readonly #onNews: () => void;
  readonly #latestMs: () => number;
  readonly #lag: HeadLag | undefined;
  readonly #isBehind = new StickyThreshold();
  #queue: MarketEvent[] = [];
  #taken = 0;
  #makeRoom: () => void = () => {};
  /** Highest event time that was buffered; `undefined` before the first event. */
  #frontierMs: number | undefined;
  #movedAt: number;
  #end: { readonly reason: string; readonly error?: unknown } | undefined;
  #isAwaited = true;
  #isFull = false;
  #wasInStep = false;
  /**
   * The current span for catching up: when it began, and by how much the part's event time then
   * exceeded the monotonic clock. That difference increases while the part catches up.
   */
  #span: { readonly at: number; readonly leadMs: number } | undefined;
  #gapMs = 0;
  readonly #beganAt: number;
  /** The highest event time that was taken. */
  #placedAt = Number.NEGATIVE_INFINITY;
  /** Position in time of the last `clock` event that was taken. */
  #clockAt = Number.NEGATIVE_INFINITY;

  /** @param latestMs Latest event time that is accepted from this part. */
  constructor(
    { name, feed }: MergedPart,
    clock: Clock,
    onNews: () => void = () => {},
    latestMs: () => number = () => Number.POSITIVE_INFINITY,
    lag?: HeadLag,
  ) {
    this.name = name;
    this.#feed = feed;
    this.#clock = clock;
    this.#onNews = onNews;
    this.#latestMs = latestMs;
    this.#lag = lag;
    this.#beganAt = clock.monotonic();
    this.#movedAt = this.#beganAt;
  }

  get frontierMs(): number | undefined {
    return this.#frontierMs;
  }

  /** Milliseconds since its event time advanced, or since the start. */
  get waitedMs(): number {
    return Math.max(0, Math.floor(this.#clock.monotonic() - this.#movedAt));
  }

  /** How far it is behind what it could read, in milliseconds of event time. */
  get behindMs(): number {
    if (this.#end) return 0;
    return this.#feed.behindMs?.() ?? 0;
  }

  /** Whether the merge waits for this part. */
  get isAwaited(): boolean {
    return this.#isAwaited && this.#end === undefined;
  }

  /** Whether it was ever in step with the others. */
  get wasInStep(): boolean {
    return this.#wasInStep;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** The error that ended it; `undefined` if it has not ended or ended without one. */
  get failure(): unknown {
    return this.#end?.error;
  }

  /** Reads until the feed ends, fails or the signal aborts. Never rejects. */
  async read(signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.#feed.events(signal)) {
        if (signal.aborted) break;
        const isPut = this.#put(event);
        // Dropped events never fill the buffer, so the wait for room below would not yield.
        if (!isPut && this.early % REST_AFTER === 0) await this.#clock.sleep(0, signal);
        if (this.#queue.length - this.#taken < MAX_AHEAD) continue;
        await this.#untilRoom(signal);
      }
      this.#end = { reason: `${this.name} has ended` };
    } catch (error) {
      const words = signal.aborted ? "has ended" : `has failed: ${messageOf(error)}`;
      this.#end = { reason: `${this.name} ${words}`, error };
    }
    this.#onNews();
  }

  /**
   * Decides again whether the merge waits for the part. Returns whether that changed.
   *
   * @param furthestMs Event time of the furthest part that has not ended, at most this machine's
   * clock.
   */
  judge(furthestMs: number): boolean {
    const now = this.#clock.monotonic();
    const before = this.#isAwaited;
    if (this.#frontierMs === undefined) {
      if (now - this.#beganAt > FIRST_EVENT_MS) this.#isAwaited = false;
      return before !== this.#isAwaited;
    }
    this.#gapMs = furthestMs - this.#frontierMs;
    const leadMs = this.#frontierMs - now;
    this.#wasInStep ||= this.#gapMs <= IN_STEP_MS;
    if (this.#gapMs <= IN_STEP_MS) this.#isAwaited = true;
    // A part that is not read because its buffer is full cannot catch up.
    else if (this.#gapMs > FAR_MS && !this.#isFull) this.#isAwaited = false;
    if (!this.#span || this.#gapMs <= IN_STEP_MS || this.#isFull) this.#span = { at: now, leadMs };
    else if (now - this.#span.at > PATIENCE_MS) {
      if (leadMs - this.#span.leadMs < PATIENCE_MS * GAIN) this.#isAwaited = false;
      this.#span = { at: now, leadMs };
    }
    return before !== this.#isAwaited;
  }

  /** Position of the next event; `undefined` if there is none yet. */
  get next(): Slot | undefined {
    const event = this.#queue[this.#taken];
    if (!event) return undefined;
    const at = Math.max(event.at, this.#placedAt);
    if (event.kind === "clock") return { at, phase: 1 };
    return { at, phase: at > this.#clockAt ? 0 : 2 };
  }

  /** Removes and returns the next event; `undefined` if there is none yet. */
  take(): MarketEvent | undefined {
    const event = this.#queue[this.#taken];
    if (!event) return undefined;
    this.#taken += 1;
    this.#placedAt = Math.max(event.at, this.#placedAt);
    if (event.kind === "clock") this.#clockAt = this.#placedAt;
    if (this.#taken > 1_024 && this.#taken * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#taken);
      this.#taken = 0;
    }
    if (this.#queue.length - this.#taken <= MAX_AHEAD / 2) this.#makeRoom();
    return event;
  }

  /**
   * Returns the state of the part.
   *
   * @param staleAfterMs Age at which it counts as stale even if no part is ahead.
   */
  report(staleAfterMs: number): FeedPart {
    const { behindMs, waitedMs } = this;
    const { state, reason } = this.#state({ behindMs, waitedMs }, staleAfterMs);
    const cause = this.#end ? undefined : this.#feed.trouble?.();
    return {
      name: this.name,
      state,
      late: this.late,
      ageMs: Math.max(waitedMs, behindMs),
      reason: [reason, cause ?? ""].filter((part) => part !== "").join(": "),
      filling: this.#end ? undefined : this.#feed.filling?.(),
      observedAtMs: this.#frontierMs,
    };
  }

  #state(
    { behindMs, waitedMs }: Pick<FeedBuffer, "behindMs" | "waitedMs">,
    staleAfterMs: number,
  ): Pick<FeedPart, "state" | "reason"> {
    if (this.#end) return { state: "down", reason: this.#end.reason };
    const stale = (words: string) => ({ state: "stale", reason: `${this.name} ${words}` }) as const;
    if (this.#frontierMs === undefined) return stale("has no data yet");
    if (waitedMs > staleAfterMs)
      return stale(`has had no new data for more than ${staleAfterMs / SECOND_MS} s`);
    if (this.#isBehind.isAbove(behindMs, staleAfterMs)) return stale("is behind and catching up");
    if (this.#isAwaited && this.#gapMs <= IN_STEP_MS) return { state: "live", reason: "" };
    return stale(`is more than ${IN_STEP_MS / SECOND_MS} s behind the rest of the market`);
  }

  /** Buffers an event. Returns false if it is dropped because it is dated too far ahead. */
  #put(event: MarketEvent): boolean {
    // A wrong date would move the market's time ahead, and make earlier events of all other parts
    // too late.
    if (event.at > this.#latestMs()) {
      this.early += 1;
      if (this.early === 1) this.#onNews();
      return false;
    }
    this.#queue.push(event);
    if (event.kind === "clock") this.#lag?.seen(this.name, event.at);
    if (this.#frontierMs === undefined || event.at > this.#frontierMs) {
      this.#frontierMs = event.at;
      this.#movedAt = this.#clock.monotonic();
    }
    this.#onNews();
    return true;
  }

  async #untilRoom(signal: AbortSignal): Promise<void> {
    this.#isFull = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#makeRoom = resolve;
    await untilAborted(promise, signal).catch(() => {});
    this.#makeRoom = () => {};
    this.#isFull = false;
  }
}
