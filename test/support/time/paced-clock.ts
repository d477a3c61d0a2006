import { type Clock, systemClock } from "../../../src/base/lib/time/clock.ts";
import { noteTimer } from "./running-timers.ts";

/** A step of real time. Long enough that what a step begins reaches its reader within a few. */
const STEP_MS = 5;

interface Timer {
  atMs: number;
  /** Undefined: it fires once. */
  readonly everyMs: number | undefined;
  readonly fire: () => void;
}

/**
 * A clock that is at most this many times as fast as the machine's, for parts with minutes in them
 * that talk over real sockets. It moves in steps, one a turn of the event loop: while this process
 * computes or waits for the machine, its time stands still. So a busy machine makes a test slower,
 * but no message of it late.
 */
export class PacedClock implements Clock {
  readonly #startMs: number;
  readonly #stepMs: number;
  readonly #timers = new Set<Timer>();
  #passedMs = 0;
  #beat: NodeJS.Timeout | undefined;

  constructor(factor: number, startMs: number) {
    this.#startMs = startMs;
    this.#stepMs = factor * STEP_MS;
  }

  now(): number {
    return Math.floor(this.#startMs + this.#passedMs);
  }

  monotonic(): number {
    return this.#passedMs;
  }

  /** The same clock for a machine whose wall clock is off by so much. */
  offBy(ms: number): Clock {
    return {
      now: () => this.now() + ms,
      monotonic: () => this.monotonic(),
      sleep: (forMs, signal) => this.sleep(forMs, signal),
      every: (eachMs, fn) => this.every(eachMs, fn),
    };
  }

  /** Lets so much time pass at once. Sleeps under way take as long as before. */
  skip(ms: number): void {
    this.#passedMs += ms;
    for (const timer of this.#timers) timer.atMs += ms;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0) return systemClock.sleep(0, signal);
    signal.throwIfAborted();
    const ended = noteTimer("sleep");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const stop = this.#start({ atMs: this.#passedMs + ms, everyMs: undefined, fire: resolve });
    const cancel = () => reject(signal.reason);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", cancel);
      stop();
      ended();
    }
  }

  every(ms: number, fn: () => void): () => void {
    const ended = noteTimer("interval");
    const stop = this.#start({ atMs: this.#passedMs + ms, everyMs: ms, fire: fn });
    return () => {
      ended();
      stop();
    };
  }

  /** Time passes while anyone waits for it. */
  #start(timer: Timer): () => void {
    this.#timers.add(timer);
    this.#beat ??= setInterval(() => this.#step(), STEP_MS);
    return () => {
      this.#timers.delete(timer);
      if (this.#timers.size > 0) return;
      clearInterval(this.#beat);
      this.#beat = undefined;
    };
  }

  #step(): void {
    const untilMs = this.#passedMs + this.#stepMs;
    const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs);
    this.#passedMs = untilMs;
    for (const timer of due.toSorted((one, other) => one.atMs - other.atMs)) {
      if (!this.#timers.has(timer)) continue;
      // What became due within one step fires once, as Node's own timers do.
      if (timer.everyMs === undefined) this.#timers.delete(timer);
      else timer.atMs = Math.max(timer.atMs + timer.everyMs, untilMs);
      timer.fire();
    }
  }
}
