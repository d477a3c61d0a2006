import type { Outcome } from "../../base/model/index.ts";

/** How many flares of one bucket there were, and how many of them ended in each way. */
export interface Counts {
  n: number;
  readonly rugged: Counted;
  readonly up15: Counted;
  readonly up60: Counted;
  readonly fell15: Counted;
}

/** The counts of a server's own flares. Plain data. */
export interface Tally extends Counts {
  /** Changes after 60 minutes in percent, the latest {@link MAX_CHANGES}. */
  readonly changes: number[];
}

/** Flares for which something is true, of those for which it is known. */
export interface Counted {
  yes: number;
  of: number;
}

/** Enough for a median, and little for a checkpoint. */
const MAX_CHANGES = 64;
/** A fall of this many percent within 15 minutes counts. */
const FALL_PCT = 3;

export function createTally(): Tally {
  const counted = () => ({ yes: 0, of: 0 });
  return { n: 0, rugged: counted(), up15: counted(), up60: counted(), fell15: counted(), changes: [] };
}

/**
 * Adds a final outcome. Without `knowsLiquidity`, nobody can tell whether the liquidity was
 * removed. Only the latest `maxChanges` changes are kept.
 */
export function addOutcome(
  tally: Tally,
  { held }: Outcome,
  knowsLiquidity: boolean,
  maxChanges = MAX_CHANGES,
): void {
  const { change_15m = null, change_60m = null, lowest_15m = null, rugged_s = null } = held ?? {};
  tally.n += 1;
  count(tally.rugged, knowsLiquidity ? rugged_s !== null : null);
  count(tally.up15, change_15m === null ? null : change_15m > 0);
  count(tally.up60, change_60m === null ? null : change_60m > 0);
  count(tally.fell15, lowest_15m === null ? null : lowest_15m <= -FALL_PCT);
  if (change_60m === null) return;
  tally.changes.push(change_60m);
  if (tally.changes.length > maxChanges) tally.changes.shift();
}

function count(counted: Counted, isSo: boolean | null): void {
  if (isSo === null) return;
  counted.of += 1;
  if (isSo) counted.yes += 1;
}
