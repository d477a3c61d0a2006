import type { Clock } from "../../../src/base/lib/time/clock.ts";

/**
 * A clock that advances only with sleeps, each by its duration plus `oversleepMs`, like a machine
 * that wakes late.
 */
export class LeapingClock implements Clock {
  readonly sleeps: number[] = [];
  #elapsedMs = 0;
  readonly #oversleepMs: () => number;

  constructor(oversleepMs: () => number = () => 0) {
    this.#oversleepMs = oversleepMs;
  }

  now(): number {
    return 1_000_000 + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.sleeps.push(ms);
    this.#elapsedMs += ms + (ms > 0 ? this.#oversleepMs() : 0);
  }

  every(): () => void {
    throw new Error("not needed");
  }
}

/** A clock on which every sleep above 0 lasts until its signal aborts. */
export class StoppedClock extends LeapingClock {
  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms === 0) return super.sleep(ms, signal);
    const { promise, reject } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    this.asleep.resolve();
    return promise;
  }

  readonly asleep = Promise.withResolvers<void>();
}
