import type { Clock } from "../../lib/time/clock.ts";
import type { LogRecord } from "../../log/event-log.ts";
import type { Cursor } from "../../protocol/index.ts";
import { maskOfRecords } from "../channel-mask.ts";
import type { Head } from "../head.ts";
import type { StreamShape } from "../session/stream-shape.ts";

/** How often deadlines are looked at while somebody waits. */
const TICK_MS = 100;

interface Waiter {
  readonly shape: StreamShape;
  readonly untilMs: number;
  readonly over: (nothingUpTo: Cursor | undefined) => void;
}

/** Those who wait at the head for the next event of theirs: one timer for all, and none while nobody waits. */
export class Waiters {
  readonly #head: Head;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  readonly #stopping: AbortSignal;
  #stopTimer: (() => void) | undefined;

  /** When `stopping` aborts, all are told that nothing came, and nobody waits any more. */
  constructor(head: Head, clock: Clock, stopping: AbortSignal) {
    this.#head = head;
    this.#clock = clock;
    this.#stopping = stopping;
    const unlisten = head.onChange((records) => this.#look(records));
    // Nobody knows what they have missed; the next look at the log, with their own cursor, tells them.
    head.onRestart(() => {
      for (const waiter of this.#waiting) waiter.over(undefined);
    });
    stopping.addEventListener("abort", () => {
      unlisten();
      for (const waiter of this.#waiting) waiter.over(head.cursor);
    });
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for an event on the shape's channels, whatever its filter, that lies behind the head as it is now: resolves with `undefined` when there is one. Resolves with
   * the head up to which there was none when `untilMs` (monotonic) is there, or the signal aborts.
   */
  wait(shape: StreamShape, untilMs: number, signal: AbortSignal): Promise<Cursor | undefined> {
    if (signal.aborted || this.#stopping.aborted) return Promise.resolve(this.#head.cursor);
    return new Promise((resolve) => {
      const abort = () => waiter.over(this.#head.cursor);
      const waiter: Waiter = {
        shape,
        untilMs,
        over: (nothingUpTo) => {
          signal.removeEventListener("abort", abort);
          this.#waiting.delete(waiter);
          this.#rest();
          resolve(nothingUpTo);
        },
      };
      this.#waiting.add(waiter);
      this.#stopTimer ??= this.#clock.every(TICK_MS, () => this.#tick());
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #look(records: readonly LogRecord[]): void {
    const mask = maskOfRecords(records);
    for (const waiter of this.#waiting) {
      if (waiter.shape.selection.mask & mask) waiter.over(undefined);
    }
  }

  #tick(): void {
    const nowMs = this.#clock.monotonic();
    for (const waiter of this.#waiting) if (nowMs >= waiter.untilMs) waiter.over(this.#head.cursor);
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
