import type { Notify } from "../../lib/notify.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import { RpcTrouble } from "./rpc/rpc-trouble.ts";

const FLOOR_MS = 250;
const MAX_MS = 15 * SECOND_MS;
/** Consecutive failures after which the operator is notified. */
const NOTIFY_AFTER = 3;

interface PersistOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notify: Notify;
  /** Returns [0, 1). */
  readonly random: () => number;
}

/** Returns the pause in milliseconds after consecutive failures: up to 15 s, half of it random. */
export function pauseAfter(failures: number, random: () => number): number {
  const maxMs = Math.min(MAX_MS, FLOOR_MS * 2 ** Math.min(20, failures - 1));
  return maxMs / 2 + (random() * maxMs) / 2;
}

/** Repeats the work while it fails with RpcTrouble. Rethrows other errors. */
export async function persist<T>(
  work: () => Promise<T>,
  { clock, signal, notify, random }: PersistOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcTrouble)) throw error;
      if (failures === NOTIFY_AFTER) notify("warn", `the chain is unavailable; retrying: ${error.message}`);
      await clock.sleep(pauseAfter(failures, random), signal);
    }
  }
}
