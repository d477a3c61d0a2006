import type { Snapshot } from "../../model/index.ts";
import type { Cursor } from "../../protocol/index.ts";

/**
 * The newest state, as REST reads it. The three belong together (law L2): within one turn of the event loop they describe
 * one instant, so what is read without waiting in between is consistent.
 */
export interface HeadLike {
  /** A first snapshot is there; until then nobody may be served: it takes the place of the empty one without moving the cursor. */
  readonly ready: boolean;
  /** Everything up to here is in {@link snapshot}. */
  readonly cursor: Cursor;
  /** Immutable; a resource that did not change is the same object as before. */
  readonly snapshot: Snapshot;
  /** Event time at which the snapshot was observed, in milliseconds since 1970 UTC. */
  readonly observedAtMs: number;
}
