import type { Snapshot } from "../../model/index.ts";
import type { Cursor } from "../../protocol/index.ts";

/**
 * The newest state, as REST reads it. The fields belong together (law L2): within one turn of the
 * event loop they describe the same moment.
 */
export interface HeadLike {
  /**
   * The first snapshot has arrived. Until then no client may be served, because it replaces the
   * empty state without moving the cursor.
   */
  readonly ready: boolean;
  /** Position of {@link snapshot} in the log. */
  readonly cursor: Cursor;
  /** Immutable. A resource that did not change is the same object as before. */
  readonly snapshot: Snapshot;
  /** Event time of the snapshot, in milliseconds since 1970 UTC. */
  readonly observedAtMs: number;
}
