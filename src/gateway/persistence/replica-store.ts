import { toSeq } from "../../base/protocol/index.ts";
import type { SnapshotEnd } from "../../workers/index.ts";
import type { KnownLists } from "../hub/index.ts";
import type { LogRecord } from "../log/index.ts";
import { memoryPersistence, type Persistence } from "./persistence.ts";
import { decodeLists, type RestoredState } from "./restored-state.ts";

/** A log with its state, as a primary sends it to a worker or a cluster stores it. */
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

function restoredOf({ checkpoints, end }: LogSnapshot): RestoredState | undefined {
  if (!end.lists) return undefined;
  const lists = decodeLists({ bytes: end.lists });
  const before = checkpoints.map((checkpoint) => ({
    seq: toSeq(checkpoint.seq),
    lists: () => decodeLists(checkpoint),
  }));
  const known: KnownLists = { lists, checkpoints: before };
  return { known, observedAtMs: end.observedAtMs, engine: undefined };
}
