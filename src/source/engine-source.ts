import type { Feed } from "../feed/feed.ts";
import { InputError } from "../lib/input-error.ts";
import type { Clock } from "../lib/time/clock.ts";
import { isoTime } from "../lib/time/iso-time.ts";
import type { Snapshot } from "../model/index.ts";
import { FlarewireError, type Freshness, type SourceInfo } from "../protocol/index.ts";
import type { Poll, SnapshotSource } from "./snapshot-source.ts";

/** A market event, as feeds report it. */
export type FeedEvent = ReturnType<Feed["events"]> extends AsyncIterable<infer E> ? E : never;

/** What this source needs of a trend engine: market events in, snapshots out. */
export interface PolledEngine {
  /** Takes the next event, in the feed's order. What it can't use it counts; it never throws for an event's sake. */
  accept(event: FeedEvent): unknown;
  /** Event time up to which events were taken, in milliseconds since 1970 UTC. */
  readonly clockMs: number;
  /** Event time from which the snapshot can differ from the last one taken. At most `clockMs`: it may differ now. */
  readonly nextChangeAtMs: number;
  snapshot(): Snapshot;
}

/** Options of {@link createEngineSource}. */
export interface EngineSourceOptions {
  /** Iterated once. It lives as long as the signal of the first poll. */
  readonly feed: Feed;
  readonly engine: PolledEngine;
  readonly clock: Clock;
  /** Wall-clock milliseconds without an advance of event time after which the data is `stale`. Default 10,000; Infinity: never. */
  readonly staleAfterMs?: number;
  /** Event time behind the feed's first `clock` that passes before the first poll, the base: what happens in it is history, not news. Default 0. */
  readonly warmupMs?: number;
}

/**
 * The trend engine as a source of snapshots. A poll draws events from the feed into the engine until a `clock` event enters another whole second of
 * event time and the engine says that something may have changed; so the pace is the feed's, the moments of the polls depend on the events alone (law L4)
 * at every replay speed, and a second in which nothing can have changed costs nothing. The first poll, the base, is that of the feed's first `clock`, or of the first one after the warm-up.
 *
 * When the feed fails, or the engine does, one poll rejects with FlarewireError, `invalid-input` where the feed's file is at fault (InputError) and else
 * `internal`, and those after it say that the source has ended. Polls are made one after the other.
 */
export function createEngineSource(options: EngineSourceOptions): EngineSnapshotSource {
  return new EngineSource(options);
}

/** The trend engine as a source. */
export interface EngineSnapshotSource extends SnapshotSource {
  /**
   * Event time of the feed's latest `clock`; `undefined` before the first. From a poll's answer to the next poll it is the last event
   * that the engine took: a checkpoint taken then goes on with the events behind this one.
   */
  readonly clockAtMs: number | undefined;
}

/** Longest stretch of work without giving the event loop a turn: a feed at full speed would let nobody else speak, not even a signal to stop. */
const TURN_MS = 50;

type Life =
  | { readonly state: "running" }
  | { readonly state: "ended" }
  | { readonly state: "failed"; readonly reason: string };

class EngineSource implements EngineSnapshotSource {
  readonly info: SourceInfo;
  readonly #feed: Feed;
  readonly #engine: PolledEngine;
  readonly #clock: Clock;
  readonly #staleAfterMs: number;
  readonly #warmupMs: number;
  #life: Life = { state: "running" };
  #events: AsyncIterator<FeedEvent> | undefined;
  /** The whole second of event time that was looked at last. */
  #second = -1;
  #polled = false;
  /** Event time of the feed's first `clock` and the warm-up: there is no poll before. */
  #baseAtMs: number | undefined;
  #clockAtMs: number | undefined;
  /** Event time of the feed's latest `clock`. */
  #observedAtMs: number | undefined;
  /** Monotonic time at which event time last advanced; at first that of the start. */
  #advancedAt: number;
  #turnAt: number;

  constructor({ feed, engine, clock, staleAfterMs = 10_000, warmupMs = 0 }: EngineSourceOptions) {
    this.info = { name: feed.name, origin: feed.origin, facts: feed.facts };
    this.#feed = feed;
    this.#engine = engine;
    this.#clock = clock;
    this.#staleAfterMs = staleAfterMs;
    this.#warmupMs = warmupMs;
    this.#advancedAt = clock.monotonic();
    this.#turnAt = this.#advancedAt;
  }

  get clockAtMs(): number | undefined {
    return this.#clockAtMs;
  }

  async poll(signal: AbortSignal): Promise<Poll | undefined> {
    signal.throwIfAborted();
    while (this.#life.state === "running") {
      const event = await this.#nextEvent(signal);
      if (event === undefined) break;
      const poll = this.#take(event);
      if (event.kind === "clock") await this.#giveTurn(signal);
      if (poll) return poll;
    }
    return this.#lateBase();
  }

  /** A feed that ended within its warm-up still leaves a state to serve. */
  #lateBase(): Poll | undefined {
    if (this.#life.state !== "ended" || this.#polled || this.#second < 0) return undefined;
    this.#polled = true;
    return { observedAtMs: this.#second * 1_000, snapshot: this.#engine.snapshot() };
  }

  freshness(): Freshness {
    const ageMs = Math.max(0, Math.floor(this.#clock.monotonic() - this.#advancedAt));
    const seen = this.#observedAtMs;
    const { state, reason } = this.#judge(ageMs);
    const trouble = this.#life.state === "running" ? this.#feed.trouble?.() : undefined;
    return {
      state,
      reason: [reason, trouble ?? ""].filter((part) => part !== "").join("; "),
      observed_at: seen === undefined ? null : isoTime(seen),
      last_success_at: seen === undefined ? null : isoTime(this.#clock.now() - ageMs),
      data_age_ms: ageMs,
      ...this.#parts(),
    };
  }

  #parts(): Pick<Freshness, "parts"> {
    const parts = this.#feed.parts?.();
    if (!parts) return {};
    return {
      parts: parts.map(({ name, state, reason, observedAtMs, ageMs }) => ({
        ...{ name, state, reason, data_age_ms: ageMs },
        observed_at: observedAtMs === undefined ? null : isoTime(observedAtMs),
      })),
    };
  }

  #judge(ageMs: number): Pick<Freshness, "state" | "reason"> {
    if (this.#life.state === "failed") return { state: "down", reason: this.#life.reason };
    if (this.#life.state === "ended") {
      const what = this.info.origin === "recorded" ? "recording" : "feed";
      return { state: "stale", reason: `the ${what} has ended` };
    }
    if (this.#observedAtMs === undefined) return { state: "stale", reason: "the feed has said nothing yet" };
    if (ageMs <= this.#staleAfterMs) return { state: "live", reason: "" };
    return {
      state: "stale",
      reason: `the feed's clock has stood still for more than ${this.#staleAfterMs} ms`,
    };
  }

  async #nextEvent(signal: AbortSignal): Promise<FeedEvent | undefined> {
    try {
      this.#events ??= this.#open(signal);
      const next = await this.#events.next();
      if (!next.done) return next.value;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof InputError) throw this.#fail("invalid-input", cause.message, cause);
      throw this.#fail("internal", `the ${this.#feed.name} feed failed: ${messageOf(cause)}`, cause);
    }
    signal.throwIfAborted();
    this.#life = { state: "ended" };
    return undefined;
  }

  #open(signal: AbortSignal): AsyncIterator<FeedEvent> {
    const events = this.#feed.events(signal)[Symbol.asyncIterator]();
    // A feed that is left in the middle would keep its file open.
    const close = () => events.return?.().catch(() => undefined);
    signal.addEventListener("abort", () => void close(), { once: true });
    return events;
  }

  #take(event: FeedEvent): Poll | undefined {
    try {
      this.#engine.accept(event);
      if (event.kind !== "clock") return undefined;
      this.#clockAtMs = event.at;
      return this.#look();
    } catch (cause) {
      // Not waited for: the fault must not stay unsaid because a feed hangs.
      this.#events?.return?.().catch(() => undefined);
      throw this.#fail(
        "internal",
        `the trend engine failed at ${event.kind} ${event.at}: ${messageOf(cause)}`,
        cause,
      );
    }
  }

  /** Looks at the engine, if event time has entered another second. */
  #look(): Poll | undefined {
    const { clockMs, nextChangeAtMs } = this.#engine;
    if (this.#observedAtMs === undefined || clockMs > this.#observedAtMs) {
      this.#observedAtMs = clockMs;
      this.#advancedAt = this.#clock.monotonic();
    }
    const second = Math.floor(clockMs / 1_000);
    if (second <= this.#second) return undefined;
    this.#second = second;
    this.#baseAtMs ??= clockMs + this.#warmupMs;
    if (clockMs < this.#baseAtMs) return undefined;
    if (this.#polled && nextChangeAtMs > clockMs) return undefined;
    this.#polled = true;
    return { observedAtMs: second * 1_000, snapshot: this.#engine.snapshot() };
  }

  async #giveTurn(signal: AbortSignal): Promise<void> {
    if (this.#clock.monotonic() - this.#turnAt < TURN_MS) return;
    await this.#clock.sleep(0, signal);
    this.#turnAt = this.#clock.monotonic();
  }

  #fail(code: "invalid-input" | "internal", message: string, cause: unknown): FlarewireError {
    this.#life = { state: "failed", reason: message };
    return new FlarewireError(code, message, { cause });
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
