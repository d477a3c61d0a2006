/** Tells how flares like a new one ended. */

import type { Origin } from "../../base/market/index.ts";
import { OwnOdds } from "./odds-book.ts";
import { readTable } from "./odds-table.ts";
import { POOLS_TABLE } from "./pools-table.ts";

export { keysOf } from "./buckets.ts";
export { medianOf } from "./estimate.ts";
export { OwnOdds } from "./odds-book.ts";
export type { OddsTable } from "./odds-table.ts";
export { addOutcome, createTally } from "./tally.ts";

const TABLE = readTable(POOLS_TABLE);

/** Returns how to open the book of a market of this origin, with its state of a checkpoint. */
export function openOdds(origin: Origin): (state: unknown) => OwnOdds {
  return (state) => new OwnOdds(origin, TABLE, state);
}
