import type { WorkerProcess } from "./worker-process.ts";

/** Readiness and load of one receiver. */
export type ReceiverState = Pick<
  WorkerProcess,
  "isReady" | "isLeaving" | "canTake" | "isStuck" | "connections"
>;

/**
 * By how much a fast receiver's connections may exceed a slow one's before new connections wait for
 * the slow one. With two receivers, the shares are then 51.5 % and 48.5 %.
 */
export const MAX_LEAD = 1 / 16;

/**
 * Chooses the free receiver with the fewest connections, of equals the `turn`-th. Receivers that
 * leave count only if there are no others. Returns `undefined` if none is free. Unless in a hurry,
 * also returns `undefined` if a busy one has clearly fewer connections ({@link MAX_LEAD}): the
 * connection then waits for that one.
 */
export function chooseReceiver<R extends ReceiverState>(
  receivers: readonly R[],
  turn: number,
  inHurry: boolean,
): R | undefined {
  const ready = receivers.filter(({ isReady }) => isReady);
  const staying = ready.filter(({ isLeaving }) => !isLeaving);
  const candidates = staying.length > 0 ? staying : ready;
  const free = candidates.filter(({ canTake }) => canTake);
  const awaited = inHurry ? [] : candidates.filter(({ canTake, isStuck }) => !canTake && !isStuck);
  const fewest = fewestOf(free);
  if (fewest > Math.floor(fewestOf(awaited) * (1 + MAX_LEAD))) return undefined;
  const least = free.filter(({ connections }) => connections === fewest);
  return least[turn % Math.max(1, least.length)];
}

function fewestOf(receivers: readonly ReceiverState[]): number {
  return Math.min(...receivers.map(({ connections }) => connections));
}
