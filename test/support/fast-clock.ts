import { type Clock, systemClock } from "../../src/lib/time/clock.ts";
import { noteTimer } from "./running-timers.ts";

/**
 * The machine's clock, this many times as fast: for parts with minutes in them that talk over real
 * sockets.
 */
export class FastClock implements Clock {
  readonly #factor: number;
  readonly #began = performance.now();
  readonly #startMs: number;
  /** What the wall clock is off by; set it to turn the clock. */
  offByMs = 0;
  #skippedMs = 0;

  constructor(factor: number, startMs: number) {
    this.#factor = factor;
    this.#startMs = startMs;
  }

  now(): number {
    return Math.floor(this.#startMs + this.monotonic() + this.offByMs);
  }

  monotonic(): number {
    return (performance.now() - this.#began) * this.#factor + this.#skippedMs;
  }

  /** Lets so much time pass at once. Sleeps under way take as long as before. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return systemClock.sleep(ms / this.#factor, signal).finally(noteTimer("sleep"));
  }

  every(ms: number, fn: () => void): () => void {
    const stop = systemClock.every(ms / this.#factor, fn);
    const ended = noteTimer("interval");
    return () => {
      ended();
      stop();
    };
  }
}
