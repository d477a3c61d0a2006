import type { Clock } from "./clock.ts";
import { untilAborted } from "./until-aborted.ts";

/**
 * Settles as the promise does, or resolves with `undefined` after `ms`. Rejects with the signal's
 * reason as soon as that aborts.
 */
export async function waitAtMost<T>(
  promise: Promise<T>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const first = Promise.race([promise, clock.sleep(ms, over.signal).then(() => undefined)]);
  // It is not awaited if the signal has aborted already.
  first.catch(() => undefined);
  try {
    // AbortSignal.any would leave some 200 bytes on a long-lived signal for each call on Node 22.
    return await (signal ? untilAborted(first, signal) : first);
  } finally {
    over.abort();
  }
}
