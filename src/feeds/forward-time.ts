import type { Clock } from "../base/lib/time/clock.ts";

/**
 * Returns a function that returns the wall-clock time, but never less than its value at this call
 * plus the monotonic time since. So if the clock is set back, the result goes back no further than
 * that.
 */
export function createForwardTime(clock: Pick<Clock, "now" | "monotonic">): () => number {
  const offsetMs = clock.now() - clock.monotonic();
  return () => Math.max(clock.now(), clock.monotonic() + offsetMs);
}
