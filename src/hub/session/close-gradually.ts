import type { Clock } from "../../lib/time/clock.ts";
import type { CloseReason } from "../../protocol/index.ts";
import type { Session } from "./session.ts";

/** How often the next sessions are let go. */
const TICK_MS = 50;

/** How sessions are let go. */
export interface Departure {
  readonly clock: Clock;
  /** By the monotonic clock. */
  readonly startMs: number;
  /** The last is let go so long after the start; 0: all at once. */
  readonly windowMs: number;
  readonly reason: CloseReason;
  /** Called with each tick, to end what does not go by itself. */
  check(nowMs: number): void;
  isEmpty(): boolean;
}

/** Closes the sessions one by one, evenly over the window; resolves when nobody is left. */
export function closeGradually(leaving: readonly Session[], departure: Departure): Promise<void> {
  const { clock, startMs, windowMs, reason } = departure;
  let left = 0;
  return new Promise((resolve) => {
    const step = () => {
      const nowMs = clock.monotonic();
      const share = windowMs > 0 ? (nowMs - startMs) / windowMs : 1;
      const due = Math.min(leaving.length, Math.ceil(share * leaving.length));
      for (; left < due; left++) leaving[left]?.close(reason);
      departure.check(nowMs);
      if (!departure.isEmpty()) return;
      stop();
      resolve();
    };
    const stop = clock.every(TICK_MS, step);
    step();
  });
}
