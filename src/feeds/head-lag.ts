import type { Clock } from "../base/lib/time/clock.ts";
import { MINUTE_MS } from "../base/lib/time/time.ts";
import { DurationHistogram } from "../gateway/metrics/index.ts";
import type { StageLag } from "../gateway/source/index.ts";
import { createForwardTime } from "./forward-time.ts";

/** Number of durations for the quantiles: five minutes of a market that changes every second. */
const RECENT = 300;
/** Older durations do not count, such as those of a part that has stopped. */
const RECENT_MS = 5 * MINUTE_MS;

type Stage = StageLag["stage"];

/** A report that market time has reached `atMs`. */
interface Stamp {
  readonly atMs: number;
  /** Time since `atMs`. */
  readonly lateMs: number;
  /** When it arrived, by the monotonic clock. */
  readonly arrivedAt: number;
}

/**
 * Measures how far the head lags behind a live market, once a second of market time. It has the
 * time stamps of all stages: the feeds, the engine's source and the gateway only report that
 * something has happened.
 */
export class HeadLag {
  readonly #clock: Clock;
  /** The current time. Never decreases, so that a clock set back makes no report look timely. */
  readonly #forwardMs: () => number;
  readonly #stages = new Map<string, StageDurations>();
  /** The reports of each part that market time has not reached, in order. */
  readonly #stamps = new Map<string, Stamp[]>();
  /** When the market last stopped waiting for a part. */
  #releasedAt = 0;
  #completeAt = 0;
  #judgedAt = 0;
  #isCounted = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#forwardMs = createForwardTime(clock);
  }

  /** By stage and part; those that have durations. */
  get stages(): readonly StageLag[] {
    return [...this.#stages.values()];
  }

  /** A part has reported everything before `atMs`. Its reports come in order of time. */
  seen(part: string, atMs: number): void {
    const stamps = this.#stamps.get(part) ?? [];
    this.#stamps.set(part, stamps);
    stamps.push({ atMs, lateMs: this.#forwardMs() - atMs, arrivedAt: this.#clock.monotonic() });
  }

  /** The market waits no longer for a part: until now, it did. */
  released(): void {
    this.#releasedAt = this.#clock.monotonic();
  }

  /**
   * The engine gets the `clock` event of `atMs`: each part that the market waits for has reported
   * everything before it, at least one. A part that the market does not wait for is only `seen`.
   *
   * @param isCounted False in a warm-up, whose market time is past on purpose, and for its end.
   */
  reached(atMs: number, isCounted: boolean): void {
    const arrived: [part: string, arrivedAt: number][] = [];
    for (const [part, stamps] of this.#stamps) {
      const upTo = stamps.findIndex((stamp) => stamp.atMs > atMs);
      const passed = stamps.splice(0, upTo < 0 ? stamps.length : upTo);
      if (isCounted) for (const { lateMs } of passed) this.#add("seen", part, lateMs);
      const reaching = passed.at(-1)?.atMs === atMs ? passed.at(-1) : stamps[0];
      if (reaching) arrived.push([part, reaching.arrivedAt]);
    }
    this.#completeAt = Math.max(this.#releasedAt, ...arrived.map(([, arrivedAt]) => arrivedAt));
    this.#isCounted = isCounted;
    if (!isCounted) return;
    for (const [part, arrivedAt] of arrived) this.#add("waited", part, this.#completeAt - arrivedAt);
  }

  /** The engine has judged the second that was reached last. */
  judged(): void {
    this.#judgedAt = this.#clock.monotonic();
    if (this.#isCounted) this.#add("judged", "", this.#judgedAt - this.#completeAt);
  }

  /** The sockets have the changes of the second that was judged last. */
  sent(): void {
    if (this.#isCounted) this.#add("sent", "", this.#clock.monotonic() - this.#judgedAt);
  }

  #add(stage: Stage, part: string, ms: number): void {
    const key = `${stage} ${part}`;
    const durations = this.#stages.get(key) ?? new StageDurations(stage, part, this.#clock);
    this.#stages.set(key, durations);
    durations.add(ms);
  }
}

class StageDurations implements StageLag {
  readonly stage: Stage;
  readonly part: string;
  readonly #all = new DurationHistogram();
  readonly #clock: Clock;
  readonly #recent: { readonly ms: number; readonly addedAt: number }[] = [];
  #next = 0;

  constructor(stage: Stage, part: string, clock: Clock) {
    this.stage = stage;
    this.part = part;
    this.#clock = clock;
  }

  add(ms: number): void {
    this.#all.add(ms);
    this.#recent[this.#next] = { ms: Math.max(0, ms), addedAt: this.#clock.monotonic() };
    this.#next = (this.#next + 1) % RECENT;
  }

  get seconds(): StageLag["seconds"] {
    return this.#all.seconds;
  }

  get recentMs(): StageLag["recentMs"] {
    const since = this.#clock.monotonic() - RECENT_MS;
    const recent = this.#recent.filter(({ addedAt }) => addedAt >= since);
    if (recent.length === 0) return undefined;
    const sorted = recent.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    return [at(0.5), at(0.99)];
  }
}
