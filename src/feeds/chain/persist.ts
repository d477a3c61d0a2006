import type { Notify } from "../../base/lib/notify.ts";
import { backOffMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { SECOND_MS } from "../../base/lib/time/time.ts";
import type { EndpointPool } from "./rpc/endpoint-pool.ts";
import { RpcFailure } from "./rpc/rpc-failure.ts";

const BACK_OFF = { floorMs: SECOND_MS / 8, ceilingMs: 15 * SECOND_MS } as const;
/** Consecutive failures after which the operator is notified. */
const NOTIFY_AFTER = 3;

interface PersistOptions {
  /** Shows the failure until the work succeeds. */
  readonly pool: Pick<EndpointPool, "obstacle">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly notify: Notify;
  /** Returns [0, 1). */
  readonly random: () => number;
}

/** Returns the pause in milliseconds after consecutive failures: up to 15 s. */
export function pauseAfter(failures: number, random: () => number): number {
  return backOffMs(failures, random, BACK_OFF);
}

/** Repeats the work while it fails with RpcFailure. Rethrows other errors. */
export async function persist<T>(
  work: () => Promise<T>,
  { pool, clock, signal, notify, random }: PersistOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      const done = await work();
      if (failures > NOTIFY_AFTER) pool.obstacle = undefined;
      return done;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcFailure)) throw error;
      if (failures >= NOTIFY_AFTER) pool.obstacle = `the chain is unavailable: ${error.words}`;
      if (failures === NOTIFY_AFTER) notify("warn", `the chain is unavailable; retrying: ${error.message}`);
      await clock.sleep(pauseAfter(failures, random), signal);
    }
  }
}
