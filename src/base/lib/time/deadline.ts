import type { Clock } from "./clock.ts";

export class DeadlineExpired extends Error {
  override readonly name = "DeadlineExpired";

  constructor(ms: number) {
    super(`did not respond within ${ms / 1_000} s`);
  }
}

/**
 * Runs `work` for at most `ms`. Rejects with {@link DeadlineExpired}, or the signal's reason, at
 * once, even if `work` ignores its signal, as a slow DNS lookup does.
 */
export async function withDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  ms: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const working = new AbortController();
  const waiting = new AbortController();
  const cancel = () => {
    waiting.abort(signal.reason);
    working.abort(signal.reason);
  };
  signal.addEventListener("abort", cancel, { once: true });
  const expired = clock.sleep(ms, waiting.signal).then((): never => {
    const reason = new DeadlineExpired(ms);
    working.abort(reason);
    throw reason;
  });
  try {
    return await Promise.race([work(working.signal), expired]);
  } finally {
    signal.removeEventListener("abort", cancel);
    waiting.abort();
  }
}
