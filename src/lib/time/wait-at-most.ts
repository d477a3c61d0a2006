import type { Clock } from "./clock.ts";

/**
 * Waits for a promise, but at most `ms`. Resolves with its value, or with `undefined` after that
 * time. Rejects with the signal's reason when it aborts.
 */
export async function waitAtMost<T>(
  promise: Promise<T>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const timeout = clock.sleep(ms, AbortSignal.any([signal, over.signal])).then(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    over.abort();
  }
}
