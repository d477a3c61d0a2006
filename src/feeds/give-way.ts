import { type EventLoopUtilization, performance } from "node:perf_hooks";
import type { Clock } from "../base/lib/time/clock.ts";

/** Longest wait. It would stop a market that works in large steps. */
const MAX_WAIT_MS = 50;

/**
 * Lets other tasks run after `workedMs` of work: until this process has nothing else to do, but at
 * most as long as the work took. A start has a market to catch up with, while thousands of clients
 * may connect, and the event loop accepts one of them per turn (libuv#3696).
 */
export async function giveWay(clock: Clock, workedMs: number, signal: AbortSignal): Promise<void> {
  const before = performance.eventLoopUtilization();
  let since: EventLoopUtilization;
  do {
    await clock.sleep(0, signal);
    since = performance.eventLoopUtilization(before);
  } while (since.idle === 0 && since.active < Math.min(workedMs, MAX_WAIT_MS));
}
