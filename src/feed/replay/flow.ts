import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../lib/time/clock.ts";

/** Events released between two turns of the event loop, at most. */
const MAX_PER_TURN = 4_096;
/** Wall time between two turns, at most, but for the work on a few events: who consumes them may be slow. */
const TURN_MS = 10;
/** How often the time is looked at, in events. */
const LOOK_EVERY = 32;
/** A single sleep; a longer wait is slept in parts, since timers of more than 24.8 days fire at once. */
const MAX_SLEEP_MS = 3_600_000;

/** How event time runs against wall time. */
interface FlowOptions {
  /** Event seconds per wall second; Infinity: no pacing. */
  readonly speed: number;
  /** Event milliseconds from the first event that are not paced. */
  readonly warmupMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called whenever the flow pauses. */
  readonly onPause: () => void;
}

/**
 * Decides when an event may go. While paced, event time equals its start plus speed × the wall time since: always reckoned from
 * the start on the monotonic clock, so that no rounding adds up and a wall clock that is set changes nothing. A consumer that
 * was slow gets at once what has become due meanwhile, never more.
 */
export class Flow {
  readonly #options: FlowOptions;
  /** Event time up to which everything is due. */
  #horizon: number;
  #origin: { at: number; mono: number | undefined } | undefined;
  #sinceTurn = 0;
  #turnedAt: number;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#horizon =
      options.speed === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    this.#turnedAt = options.clock.monotonic();
  }

  /** Whether an event of this time may go without a wait. To be asked once per event. */
  ready(at: number): boolean {
    if (at > this.#horizon || this.#options.signal.aborted) return false;
    this.#sinceTurn += 1;
    return !this.#turnDue();
  }

  /** Waits until an event of this time is due and the event loop has had its turn; `false` when the signal came first. */
  async wait(at: number): Promise<boolean> {
    const { signal, clock, speed, onPause } = this.#options;
    if (signal.aborted) return false;
    onPause();
    if (this.#turnDue()) {
      await nextTurn();
      this.#turned();
    }
    while (at > this.#horizon && at > this.#advance(at)) {
      const waitMs = Math.ceil((at - this.#horizon) / speed);
      try {
        await clock.sleep(Math.min(Math.max(waitMs, 1), MAX_SLEEP_MS), signal);
      } catch (error) {
        if (signal.aborted) return false;
        throw error;
      }
      this.#turned();
    }
    return !signal.aborted;
  }

  /** Moves the horizon to what is due now, and returns it. */
  #advance(at: number): number {
    const { clock, speed, warmupMs } = this.#options;
    const mono = clock.monotonic();
    this.#origin ??= { at: at + warmupMs, mono: warmupMs === 0 ? mono : undefined };
    // With a warm-up the wall time starts to count when the warm-up is through.
    if (at > this.#origin.at) this.#origin.mono ??= mono;
    this.#horizon = this.#origin.at + (mono - (this.#origin.mono ?? mono)) * speed;
    return this.#horizon;
  }

  #turnDue(): boolean {
    if (this.#sinceTurn >= MAX_PER_TURN) return true;
    return this.#sinceTurn % LOOK_EVERY === 0 && this.#options.clock.monotonic() - this.#turnedAt >= TURN_MS;
  }

  #turned(): void {
    this.#sinceTurn = 0;
    this.#turnedAt = this.#options.clock.monotonic();
  }
}
