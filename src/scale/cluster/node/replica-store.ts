import { type Channel, type Cursor, toSeq } from "../../../base/protocol/index.ts";
import type { KnownLists } from "../../../gateway/hub/index.ts";
import type { LogRecord, RunStart } from "../../../gateway/log/index.ts";
import {
  decodeLists,
  memoryPersistence,
  type Persistence,
  type RestoredState,
} from "../../../gateway/persistence/index.ts";

/** Where a stored log ends, and the lists there. */
interface SnapshotEnd {
  readonly cursor: Cursor;
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
  readonly observedAtMs: number;
  /** The lists at the cursor, encoded by `encodeLists`. */
  readonly lists: Uint8Array;
  readonly runs: readonly RunStart[];
  readonly oldest: number;
  readonly oldestLasting: number;
}

/** A log with its state, as a cluster stores it. */
export interface LogSnapshot {
  readonly records: readonly LogRecord[];
  readonly checkpoints: readonly { readonly seq: number; readonly bytes: Uint8Array }[];
  readonly end: SnapshotEnd;
}

/** Creates a persistence in memory whose log resumes from the snapshot. */
export function createReplicaStore(
  snapshot: LogSnapshot,
  options: Parameters<typeof memoryPersistence>[0],
): Persistence {
  const { cursor, positions, oldest, oldestLasting, runs } = snapshot.end;
  const { records } = snapshot;
  const stored = { records, positions, oldest, oldestLasting, runs };
  return memoryPersistence(options, {
    restored: restoredOf(snapshot),
    stored: { epoch: cursor.epoch, stored },
  });
}

function restoredOf({ checkpoints, end }: LogSnapshot): RestoredState {
  const lists = decodeLists({ bytes: end.lists });
  const before = checkpoints.map((checkpoint) => ({
    seq: toSeq(checkpoint.seq),
    lists: () => decodeLists(checkpoint),
  }));
  const known: KnownLists = { lists, checkpoints: before };
  return { known, observedAtMs: end.observedAtMs, engine: undefined };
}
