/** How someone who takes connections stands. */
export interface ReceiverState {
  /** It takes connections, if perhaps not at this moment. */
  readonly isReady: boolean;
  /** It sends its clients away, and takes what nobody else can. */
  readonly isLeaving: boolean;
  /** It takes one now. */
  readonly hasRoom: boolean;
  /** It has not taken for too long what it was handed: nobody is to wait for it. */
  readonly isStuck: boolean;
  /** Open ones, with those that were handed over and are not taken yet. */
  readonly connections: number;
}

/** By what part a quicker one may be ahead of a slower one, so that it need not wait at each single connection: of many, 51.5 and 48.5 % at most. */
export const MAX_LEAD = 1 / 16;

/**
 * Whom the next connection goes to: who has the fewest, and of several the `turn`-th. `undefined`: nobody has room, or all who have are too far ahead of one that
 * will have it in a moment. In a hurry it goes to whoever has room.
 */
export function chooseReceiver<R extends ReceiverState>(
  receivers: readonly R[],
  turn: number,
  inHurry: boolean,
): R | undefined {
  const there = receivers.filter(({ isReady }) => isReady);
  const stay = there.filter(({ isLeaving }) => !isLeaving);
  const ready = stay.length > 0 ? stay : there;
  const free = ready.filter(({ hasRoom }) => hasRoom);
  const awaited = inHurry ? [] : ready.filter(({ hasRoom, isStuck }) => !hasRoom && !isStuck);
  const fewest = fewestOf(free);
  if (fewest > Math.floor(fewestOf(awaited) * (1 + MAX_LEAD))) return undefined;
  const least = free.filter(({ connections }) => connections === fewest);
  return least[turn % Math.max(1, least.length)];
}

function fewestOf(receivers: readonly ReceiverState[]): number {
  return Math.min(...receivers.map(({ connections }) => connections));
}
