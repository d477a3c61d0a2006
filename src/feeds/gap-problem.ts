import { HOUR_MS } from "../base/lib/time/time.ts";

/**
 * Returns why `what` cannot resume after `maxMs` or more, as half a sentence; `undefined` if the
 * gap is not longer.
 */
export function gapProblem(what: string, maxMs: number, afterMs: number, nowMs: number): string | undefined {
  if (nowMs - afterMs <= maxMs) return undefined;
  const stored = `the stored state is from ${new Date(afterMs).toISOString()}`;
  return `${stored}, and ${what} cannot resume after more than ${maxMs / HOUR_MS} hours`;
}
