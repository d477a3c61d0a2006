import type { Clock } from "../../lib/time/clock.ts";
import { SECOND_MS } from "../../lib/time/time.ts";
import { RpcTrouble } from "./rpc/rpc-trouble.ts";

const FLOOR_MS = 250;
const MAX_MS = 15 * SECOND_MS;
/** So many failures in a row are told. */
const TOLD_AFTER = 3;

/** How {@link persist} waits. */
export interface PersistOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onNotice: (sentence: string, isTrouble: boolean) => void;
  /** Yields [0, 1). */
  readonly random: () => number;
}

/** How long to wait after so many failures in a row, in milliseconds: doubled with each, up to 15 s, and half of it by chance. */
export function pauseAfter(failures: number, random: () => number): number {
  const most = Math.min(MAX_MS, FLOOR_MS * 2 ** Math.min(20, failures - 1));
  return most / 2 + (random() * most) / 2;
}

/** Does the work again until it does not fail with RpcTrouble: endpoints come back. Every other error is passed on. */
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
      if (failures === TOLD_AFTER)
        onNotice(`the chain cannot be asked, and is tried again: ${error.message}`, true);
      await clock.sleep(pauseAfter(failures, random), signal);
    }
  }
}
