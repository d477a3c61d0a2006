import type { Clock } from "./clock.ts";

/** Resolves as the promise, or with `undefined` after `ms`. Rejects with the signal's reason. */
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
