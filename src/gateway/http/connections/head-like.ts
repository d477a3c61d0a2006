import type { Snapshot } from "../../../base/model/index.ts";
import type { Cursor } from "../../../base/protocol/index.ts";

/**
 * A state that REST serves: the newest, or that of a past minute. Within one turn, all fields
 * describe the same moment (law L2).
 */
export interface HeadLike {
  /** The first snapshot has arrived, which replaces the empty state without moving the cursor. */
  readonly ready: boolean;
  /** Position of {@link snapshot} in the log. */
  readonly cursor: Cursor;
  /** Immutable. A resource that did not change is the same object as before. */
  readonly snapshot: Snapshot;
  /** Event time of the snapshot, in milliseconds since 1970 UTC. */
  readonly observedAtMs: number;
}
