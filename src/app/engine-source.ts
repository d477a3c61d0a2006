import { InputError } from "../base/lib/input-error.ts";
import { messageOf } from "../base/lib/text/message-of.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import { isoTime } from "../base/lib/time/iso-time.ts";
import type { Snapshot } from "../base/model/index.ts";
import { FlarewireError, type Freshness, type SourceInfo } from "../base/protocol/index.ts";
import { type HeadLag, StickyThreshold } from "../feeds/index.ts";
import type { Feed, FeedPart, Poll, SnapshotSource } from "../gateway/source/index.ts";

export type FeedEvent = ReturnType<Feed["events"]> extends AsyncIterable<infer E> ? E : never;

/** The part of the trend engine that this source needs: market events in, snapshots out. */
export interface PolledEngine {
  /** Processes the next event, in the feed's order. Counts unusable ones; never throws. */
  accept(event: FeedEvent): unknown;
  /** Event time of the latest processed events, in milliseconds since 1970 UTC. */
  readonly clockMs: number;
  /** Event time of the next possible change; at most `clockMs` if there may be one already. */
  readonly nextChangeAtMs: number;
  snapshot(): Snapshot;
}

/** Returns the engine with another `accept`, for a caller that also inspects the events. */
export function withAccept(engine: PolledEngine, accept: PolledEngine["accept"]): PolledEngine {
  return {
    accept,
    get clockMs() {
      return engine.clockMs;
    },
    get nextChangeAtMs() {
      return engine.nextChangeAtMs;
    },
    snapshot: () => engine.snapshot(),
  };
}

interface EngineSourceOptions {
  /** Iterated once, until the signal of the first poll aborts. */
  readonly feed: Feed;
  readonly engine: PolledEngine;
  readonly clock: Clock;
  /** How long event time may stand still before the state is `stale`, in ms. Default 10,000. */
  readonly staleAfterMs?: number;
  /** Event time that the engine processes before the first poll, in ms. Default 0. */
  readonly warmupMs?: number;
  /** Where the market's time is reported. Default: nothing measures it. */
  readonly lag?: HeadLag | undefined;
  /** Default: a new market. */
  readonly resume?: ResumedRun;
  /**
   * Does a part of the work that must be finished before the engine accepts this event, if any.
   * Returns whether more is left.
   */
  readonly packBefore?: (event: FeedEvent) => boolean;
}

/** What a resumed market continues, in milliseconds since 1970 UTC. */
export interface ResumedRun {
  /** Event time of the previous run's lists, which are served until this run has reached it. */
  readonly observedAtMs: number;
  /**
   * Event time up to which the market catches up, and its event time counts as the data's age. A
   * live feed that has read its past has caught up, too: this machine's clock may be wrong.
   */
  readonly presentAtMs: number;
}

/** Longest work without yielding. Otherwise a feed at full speed would block even a stop signal. */
const MAX_WORK_MS = 50;

type Lifecycle =
  | { readonly state: "running" }
  | { readonly state: "ended" }
  | { readonly state: "failed"; readonly reason: string };

type Health = Pick<FeedPart, "state" | "reason" | "ageMs">;

/**
 * A snapshot source from a feed and the engine. A poll passes market events to the engine until a
 * `clock` event starts another second and the snapshot may have changed. So the events alone decide
 * when polls return (law L4 of src/README.md). The first poll resolves after the warm-up.
 *
 * If the feed or the engine fails, one poll rejects: with `invalid-input` if the feed's file is at
 * fault (InputError), else with `internal`. Later ones resolve to `undefined`. Polls must not
 * overlap.
 */
export class EngineSource implements SnapshotSource {
  readonly info: SourceInfo;
  readonly #feed: Feed;
  readonly #engine: PolledEngine;
  readonly #clock: Clock;
  readonly #staleAfterMs: number;
  readonly #warmupMs: number;
  readonly #resume: ResumedRun | undefined;
  readonly #packBefore: EngineSourceOptions["packBefore"];
  readonly #lag: HeadLag | undefined;
  readonly #isBehind = new StickyThreshold();
  #lifecycle: Lifecycle = { state: "running" };
  #events: AsyncIterator<FeedEvent> | undefined;
  /** The second of event time that was examined last. */
  #lastSecond = -1;
  #polled = false;
  /**
   * Event time from which polls return snapshots: that of the feed's first `clock` plus the
   * warm-up.
   */
  #baseAtMs: number | undefined;
  #clockAtMs: number | undefined;
  #observedAtMs: number | undefined;
  /** Monotonic time of the latest advance of event time; initially the start. */
  #advancedAt: number;
  #yieldedAt: number;

  constructor(options: EngineSourceOptions) {
    const { feed, engine, clock, staleAfterMs = 10_000, warmupMs = 0 } = options;
    this.info = { name: feed.name, origin: feed.origin, facts: feed.facts };
    this.#feed = feed;
    this.#engine = engine;
    this.#clock = clock;
    this.#staleAfterMs = staleAfterMs;
    this.#warmupMs = warmupMs;
    this.#resume = options.resume;
    this.#packBefore = options.packBefore;
    this.#lag = options.lag;
    this.#advancedAt = clock.monotonic();
    this.#yieldedAt = this.#advancedAt;
  }

  /**
   * Event time of the feed's latest `clock`; `undefined` before the first. Between two polls, that
   * `clock` is the last event processed, so a checkpoint resumes right after it.
   */
  get clockAtMs(): number | undefined {
    return this.#clockAtMs;
  }

  /**
   * The share of the warm-up that was read, 0 to 1; `undefined` before its first `clock`, after it,
   * and without a warm-up.
   */
  get warmedUp(): number | undefined {
    if (this.#polled || this.#baseAtMs === undefined || this.#warmupMs === 0) return undefined;
    return 1 - (this.#baseAtMs - this.#engine.clockMs) / this.#warmupMs;
  }

  /** Whether the market is old because it is still being read up to the present. */
  get isCatchingUp(): boolean {
    return this.#behindMs() > this.#staleAfterMs;
  }

  /** Returns how far event time is behind the present, as far as the market can tell. */
  #behindMs(): number {
    if (this.#lifecycle.state !== "running") return 0;
    return Math.max(this.#resumedBehindMs(), this.#feed.behindMs?.() ?? 0);
  }

  /** Returns the age of event time while a resumed market has not reached the present; else 0. */
  #resumedBehindMs(): number {
    const seen = this.#observedAtMs;
    if (!this.#resume || seen === undefined) return 0;
    const isPresent = seen >= this.#resume.presentAtMs || (this.info.origin === "live" && !this.#isFilling());
    return isPresent ? 0 : this.#clock.now() - seen;
  }

  #isFilling(): boolean {
    if (this.#feed.parts) return this.#feed.parts().some(({ filling }) => filling !== undefined);
    return this.#feed.filling?.() !== undefined;
  }

  async poll(signal: AbortSignal): Promise<Poll | undefined> {
    signal.throwIfAborted();
    while (this.#lifecycle.state === "running") {
      const event = await this.#nextEvent(signal);
      if (event === undefined) break;
      if (event.kind === "clock") this.#reached(event.at);
      while (this.#packBefore?.(event)) await this.#clock.sleep(0, signal);
      const poll = this.#take(event);
      if (event.kind === "clock") {
        this.#lag?.judged();
        await this.#yieldIfDue(signal);
      }
      if (poll) return poll;
    }
    return this.#warmupBase();
  }

  published(): void {
    this.#lag?.sent();
  }

  #reached(atMs: number): void {
    if (!this.#feed.parts) this.#lag?.seen(this.#feed.name, atMs);
    this.#lag?.reached(atMs, this.#polled);
  }

  /** Returns the state of a feed that ended in its warm-up, to have something to serve. */
  #warmupBase(): Poll | undefined {
    if (this.#lifecycle.state !== "ended" || this.#polled || this.#lastSecond < 0) return undefined;
    this.#polled = true;
    return { observedAtMs: this.#lastSecond * 1_000, snapshot: this.#engine.snapshot() };
  }

  freshness(): Freshness {
    const seen = this.#observedAtMs;
    const waitedMs = Math.max(0, Math.floor(this.#clock.monotonic() - this.#advancedAt));
    const behindMs = this.#behindMs();
    const ageMs = Math.max(waitedMs, behindMs);
    const { state, reason } = this.#state(ageMs, behindMs);
    const trouble = this.#lifecycle.state === "running" ? this.#feed.trouble?.() : undefined;
    return {
      state,
      reason: [reason, trouble ?? ""].filter((part) => part !== "").join("; "),
      observed_at: seen === undefined ? null : isoTime(seen),
      last_success_at: seen === undefined ? null : isoTime(this.#clock.now() - ageMs),
      data_age_ms: ageMs,
      ...this.#parts({ state, reason, ageMs }),
    };
  }

  #parts(whole: Health): Pick<Freshness, "parts"> {
    const parts = this.#feed.parts?.() ?? this.#ownPart(whole);
    if (parts.length === 0) return {};
    return {
      parts: parts.map(({ name, state, reason, observedAtMs, ageMs, filling }) => ({
        name,
        state,
        reason,
        data_age_ms: ageMs,
        observed_at: observedAtMs === undefined ? null : isoTime(observedAtMs),
        ...(filling ? { filling: { read_ms: filling.readMs, of_ms: filling.ofMs } } : {}),
      })),
    };
  }

  /** While a feed without parts loads past events, reports the feed itself as the only part. */
  #ownPart(whole: Health): readonly FeedPart[] {
    const filling = this.#feed.filling?.();
    if (!filling) return [];
    return [{ ...whole, name: this.#feed.name, observedAtMs: this.#observedAtMs, late: 0, filling }];
  }

  #state(ageMs: number, behindMs: number): Pick<Freshness, "state" | "reason"> {
    if (this.#lifecycle.state === "failed") return { state: "down", reason: this.#lifecycle.reason };
    if (this.#lifecycle.state === "ended") {
      const what = this.info.origin === "recorded" ? "recording" : "feed";
      return { state: "stale", reason: `the ${what} has ended` };
    }
    if (!this.#polled || this.#observedAtMs === undefined)
      return { state: "stale", reason: "the market has no data yet" };
    if (this.#isBehind.isAbove(behindMs, this.#staleAfterMs))
      return { state: "stale", reason: "the market is behind and catching up" };
    if (ageMs <= this.#staleAfterMs) return { state: "live", reason: "" };
    return {
      state: "stale",
      reason: `the market has had no new data for more than ${this.#staleAfterMs / 1_000} s`,
    };
  }

  async #nextEvent(signal: AbortSignal): Promise<FeedEvent | undefined> {
    try {
      this.#events ??= this.#openFeed(signal);
      const next = await this.#events.next();
      if (!next.done) return next.value;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof InputError) throw this.#fail("invalid-input", cause.message, cause);
      throw this.#fail("internal", `the ${this.#feed.name} feed failed: ${messageOf(cause)}`, cause);
    }
    signal.throwIfAborted();
    this.#lifecycle = { state: "ended" };
    return undefined;
  }

  #openFeed(signal: AbortSignal): AsyncIterator<FeedEvent> {
    const events = this.#feed.events(signal)[Symbol.asyncIterator]();
    // An abandoned iterator would keep its file open.
    const close = () => events.return?.().catch(() => undefined);
    signal.addEventListener("abort", () => void close(), { once: true });
    return events;
  }

  #take(event: FeedEvent): Poll | undefined {
    try {
      this.#engine.accept(event);
      if (event.kind !== "clock") return undefined;
      this.#clockAtMs = event.at;
      return this.#pollEngine();
    } catch (cause) {
      // Not awaited: a feed that hangs must not hide the error.
      this.#events?.return?.().catch(() => undefined);
      throw this.#fail(
        "internal",
        `the trend engine failed at ${event.kind} ${event.at}: ${messageOf(cause)}`,
        cause,
      );
    }
  }

  /**
   * Returns a snapshot if event time has entered another second, the warm-up is over and the
   * snapshot may have changed.
   */
  #pollEngine(): Poll | undefined {
    const { clockMs, nextChangeAtMs } = this.#engine;
    const beforeMs = this.#observedAtMs ?? (this.#resume?.observedAtMs ?? Number.NEGATIVE_INFINITY) - 1;
    if (clockMs > beforeMs) {
      this.#observedAtMs = clockMs;
      this.#advancedAt = this.#clock.monotonic();
    }
    const second = Math.floor(clockMs / 1_000);
    if (second <= this.#lastSecond) return undefined;
    this.#lastSecond = second;
    this.#baseAtMs ??= clockMs + this.#warmupMs;
    if (clockMs < this.#baseAtMs) return undefined;
    if (this.#polled && nextChangeAtMs > clockMs) return undefined;
    this.#polled = true;
    return { observedAtMs: second * 1_000, snapshot: this.#engine.snapshot() };
  }

  async #yieldIfDue(signal: AbortSignal): Promise<void> {
    if (this.#clock.monotonic() - this.#yieldedAt < MAX_WORK_MS) return;
    await this.#clock.sleep(0, signal);
    this.#yieldedAt = this.#clock.monotonic();
  }

  #fail(code: "invalid-input" | "internal", message: string, cause: unknown): FlarewireError {
    this.#lifecycle = { state: "failed", reason: message };
    return new FlarewireError(code, message, { cause });
  }
}
