import type { Clock } from "./clock.ts";

/** Resolves as the promise, or with `undefined` after `ms`. Rejects with the signal's reason. */
export async function waitAtMost<T>(
  promise: Promise<T>,
  ms: number,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const until = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const timeout = clock.sleep(ms, until).then(() => undefined);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    over.abort();
  }
}
