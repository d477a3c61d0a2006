import type { Clock } from "../../../src/base/lib/time/clock.ts";
import { noteTimer } from "./running-timers.ts";
import { Waiters } from "./waiters.ts";

type Timer = { at: number; readonly everyMs: number | undefined; readonly fire: () => void };

/**
 * A clock that advances only when the test calls {@link advance}. A sleep of 0 takes one turn of
 * the event loop and no time.
 */
export class ManualClock implements Clock {
  #elapsed = 0;
  #wallOffset: number;
  #timers: Timer[] = [];
  #sleeps = 0;
  readonly #waiters = new Waiters(() => this.slept.slice(-10));
  /** Milliseconds of all sleeps so far, in order. */
  readonly slept: number[] = [];

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = startMs;
  }

  now(): number {
    return this.#wallOffset + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.slept.push(ms);
      const ended = noteTimer("sleep");
      const leave = () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        signal.removeEventListener("abort", cancel);
        ended();
      };
      const fire = () => {
        leave();
        resolve();
      };
      const cancel = () => {
        leave();
        reject(signal.reason);
      };
      if (ms === 0) setImmediate(fire);
      const timer: Timer = { at: this.#elapsed + ms, everyMs: undefined, fire };
      this.#timers.push(timer);
      signal.addEventListener("abort", cancel, { once: true });
      this.#sleeps += 1;
      this.#waiters.look();
    });
  }

  every(ms: number, fn: () => void): () => void {
    const timer = { at: this.#elapsed + ms, everyMs: ms, fire: fn };
    this.#timers.push(timer);
    const ended = noteTimer("interval");
    return () => {
      ended();
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** Milliseconds until the next timer is due; `undefined` if there is none. */
  get dueInMs(): number | undefined {
    if (this.#timers.length === 0) return undefined;
    return Math.max(0, Math.min(...this.#timers.map(({ at }) => at)) - this.#elapsed);
  }

  /** Resolves at the next call of {@link sleep}. */
  nextSleep(): Promise<void> {
    const before = this.#sleeps;
    return this.#waiters.until(() => this.#sleeps > before, "a sleep");
  }

  /** Moves the wall clock, as an operator might. The monotonic clock is not affected. */
  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Advances the time and fires the timers that become due, in order. */
  advance(ms: number): void {
    const until = this.#elapsed + ms;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#elapsed = Math.max(this.#elapsed, due.at);
      if (due.everyMs === undefined) this.#timers = this.#timers.filter((timer) => timer !== due);
      else due.at += due.everyMs;
      due.fire();
    }
    this.#elapsed = until;
  }
}
