import type { Snapshot } from "../model/index.ts";

/** With fewer running flares than this, all of them may well end at once. */
const FEWEST_RUNNING = 4;

/** Tells a snapshot that may be believed at once from one that must be seen twice. */
export interface MassEndGuard {
  /**
   * True when `candidate` may follow `accepted`. False when it would end more than half of at least four running flares (those
   * in `pro`) and the candidate before it did not already say so of more than half of the same: a restart, an empty
   * answer or a half-filled replica looks like that, and a `flare-finished` cannot be taken back.
   */
  mayFollow(accepted: Snapshot | undefined, candidate: Snapshot): boolean;
}

/** A guard that has seen nothing yet. */
export function createMassEndGuard(): MassEndGuard {
  let suspects: ReadonlySet<string> | undefined;
  return {
    mayFollow(accepted, candidate) {
      const running = accepted?.flares.pro ?? [];
      const listed = new Set(candidate.flares.pro.map(({ id }) => id));
      const gone = running.map(({ id }) => id).filter((id) => !listed.has(id));
      const isMost = (count: number) => running.length >= FEWEST_RUNNING && count * 2 > running.length;
      const believed = !isMost(gone.length) || isMost(gone.filter((id) => suspects?.has(id)).length);
      suspects = believed ? undefined : new Set(gone);
      return believed;
    },
  };
}
