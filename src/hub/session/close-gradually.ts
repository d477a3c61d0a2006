import type { Clock } from "../../lib/time/clock.ts";
import type { CloseReason } from "../../protocol/index.ts";
import type { Session } from "./session.ts";

const TICK_MS = 50;

interface CloseSchedule {
  readonly clock: Clock;
  /** Start of the window, by the monotonic clock. */
  readonly startMs: number;
  /** Window in which all sessions are closed; 0 closes them at once. */
  readonly windowMs: number;
  readonly reason: CloseReason;
  /** Called on each tick, to terminate sessions that do not close. */
  check(nowMs: number): void;
  isEmpty(): boolean;
}

/** Closes the sessions one by one, evenly over the window. Resolves once all have ended. */
export function closeGradually(sessions: readonly Session[], schedule: CloseSchedule): Promise<void> {
  const { clock, startMs, windowMs, reason } = schedule;
  let next = 0;
  return new Promise((resolve) => {
    const step = () => {
      const nowMs = clock.monotonic();
      const share = windowMs > 0 ? (nowMs - startMs) / windowMs : 1;
      const due = Math.min(sessions.length, Math.ceil(share * sessions.length));
      for (; next < due; next++) sessions[next]?.close(reason);
      schedule.check(nowMs);
      if (!schedule.isEmpty()) return;
      stop();
      resolve();
    };
    const stop = clock.every(TICK_MS, step);
    step();
  });
}
