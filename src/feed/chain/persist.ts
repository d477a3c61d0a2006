import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import { RpcTrouble } from "./rpc/rpc-trouble.ts";

const FLOOR_MS = 250;
const MAX_MS = 15 * SECOND_MS;
/** Failures in a row after which the operator is notified. */
const TOLD_AFTER = 3;

interface PersistOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
  /** Returns [0, 1). */
  readonly random: () => number;
}

/**
 * Returns the pause in milliseconds after failures in a row: doubled with each, up to 15 s, half of
 * it random.
 */
export function pauseAfter(failures: number, random: () => number): number {
  const most = Math.min(MAX_MS, FLOOR_MS * 2 ** Math.min(20, failures - 1));
  return most / 2 + (random() * most) / 2;
}

/**
 * Repeats the work while it fails with RpcTrouble, because endpoints come back. Other errors are
 * passed on.
 */
export async function persist<T>(
  work: () => Promise<T>,
  { clock, signal, onNotice, random }: PersistOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble)) throw error;
      if (failures === TOLD_AFTER) onNotice(`the chain is unavailable; retrying: ${error.message}`, true);
      await clock.sleep(pauseAfter(failures, random), signal);
    }
  }
}
