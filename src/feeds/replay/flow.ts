import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/lib/time/clock.ts";

/** Bounds of a turn of the event loop; the clock is read once per `lookEvery` events. */
const TURN = { maxEvents: 4_096, ms: 10, lookEvery: 32 };
/** Longest single sleep: timers of more than 24.8 days fire at once. */
const MAX_SLEEP_MS = 3_600_000;

interface FlowOptions {
  readonly speed: number;
  /** Milliseconds of event time, from the first event on, that are not paced. */
  readonly warmupMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called at the start of each wait. */
  readonly onPause: () => void;
}

/**
 * Decides when an event is due. From the start of pacing, event time advances by speed × elapsed
 * monotonic time, so delays do not add up. A slow consumer gets all due events at once, but none
 * early.
 */
export class Flow {
  readonly #options: FlowOptions;
  /** Event time up to which everything is due. */
  #horizon: number;
  /** The start of pacing. `mono` is `undefined` until the warm-up has been emitted. */
  #origin: { at: number; mono: number | undefined } | undefined;
  #sinceTurn = 0;
  #turnedAt: number;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#horizon =
      options.speed === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    this.#turnedAt = options.clock.monotonic();
  }

  /**
   * Returns whether an event at this time can be emitted now, without `wait`: it is due, and the
   * turn of the event loop is not over. Counts the event, so call it once per event.
   */
  ready(at: number): boolean {
    if (at > this.#horizon || this.#options.signal.aborted) return false;
    this.#sinceTurn += 1;
    return !this.#turnDue();
  }

  /**
   * Waits until an event is due, and lets other tasks run if the turn of the event loop is over.
   * Resolves to `false` if the signal aborts.
   */
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

  /** Moves the horizon to the present and returns it. The first call sets the start. */
  #advance(at: number): number {
    const { clock, speed, warmupMs } = this.#options;
    const mono = clock.monotonic();
    this.#origin ??= { at: at + warmupMs, mono: warmupMs === 0 ? mono : undefined };
    // Wall time starts to count after the warm-up.
    if (at > this.#origin.at) this.#origin.mono ??= mono;
    this.#horizon = this.#origin.at + (mono - (this.#origin.mono ?? mono)) * speed;
    return this.#horizon;
  }

  #turnDue(): boolean {
    if (this.#sinceTurn >= TURN.maxEvents) return true;
    return (
      this.#sinceTurn % TURN.lookEvery === 0 && this.#options.clock.monotonic() - this.#turnedAt >= TURN.ms
    );
  }

  #turned(): void {
    this.#sinceTurn = 0;
    this.#turnedAt = this.#options.clock.monotonic();
  }
}
