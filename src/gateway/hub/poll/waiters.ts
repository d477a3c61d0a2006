import type { Clock } from "../../../base/lib/time/clock.ts";
import type { Cursor } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import { maskOfRecords } from "../channel-mask.ts";
import type { Head } from "../head.ts";
import type { StreamShape } from "../session/stream-shape.ts";

const TICK_MS = 100;

interface Waiter {
  readonly shape: StreamShape;
  readonly deadlineMs: number;
  readonly finish: (emptyUpTo: Cursor | undefined) => void;
}

/** Holds requests at the head until their next event. One timer serves all. */
export class Waiters {
  readonly #head: Head;
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();
  readonly #stopping: AbortSignal;
  #stopTimer: (() => void) | undefined;

  /** When `stopping` aborts, all waits end without an event, and new waits end at once. */
  constructor(head: Head, clock: Clock, stopping: AbortSignal) {
    this.#head = head;
    this.#clock = clock;
    this.#stopping = stopping;
    const unlisten = head.onChange((records) => this.#wake(records));
    // A new history started. Each waiter's next read reports the loss for its own cursor.
    head.onRestart(() => {
      for (const waiter of this.#waiting) waiter.finish(undefined);
    });
    stopping.addEventListener("abort", () => {
      unlisten();
      for (const waiter of this.#waiting) waiter.finish(head.cursor);
    });
  }

  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Waits for an event on the shape's channels. Resolves with `undefined` when there is one, or
   * when a new history starts. Resolves with the head's cursor at the deadline, in monotonic time,
   * or when `signal` or `stopping` aborts.
   */
  wait(shape: StreamShape, deadlineMs: number, signal: AbortSignal): Promise<Cursor | undefined> {
    if (signal.aborted || this.#stopping.aborted) return Promise.resolve(this.#head.cursor);
    return new Promise((resolve) => {
      const abort = () => waiter.finish(this.#head.cursor);
      const waiter: Waiter = {
        shape,
        deadlineMs,
        finish: (emptyUpTo) => {
          signal.removeEventListener("abort", abort);
          this.#waiting.delete(waiter);
          this.#stopIfIdle();
          resolve(emptyUpTo);
        },
      };
      this.#waiting.add(waiter);
      this.#stopTimer ??= this.#clock.every(TICK_MS, () => this.#tick());
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  #wake(records: readonly LogRecord[]): void {
    const mask = maskOfRecords(records);
    for (const waiter of this.#waiting) {
      if (waiter.shape.selection.mask & mask) waiter.finish(undefined);
    }
  }

  #tick(): void {
    const nowMs = this.#clock.monotonic();
    for (const waiter of this.#waiting) if (nowMs >= waiter.deadlineMs) waiter.finish(this.#head.cursor);
  }

  #stopIfIdle(): void {
    if (this.#waiting.size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }
}
