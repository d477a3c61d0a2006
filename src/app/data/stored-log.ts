import type { Channel, Epoch } from "../../base/protocol/index.ts";
import type { LogRecord, RunStart } from "../../gateway/log/index.ts";

/** A log as an earlier process stored it. */
export interface StoredLog {
  readonly epoch: Epoch;
  readonly fingerprint: string;
  /** Whether the last writer closed the file. False if it was killed or the machine went down. */
  readonly closedInOrder: boolean;
  /** Why the file may lack events that clients received; `undefined` if it is complete. */
  readonly doubt: string | undefined;
  /** In order up to the head: all events after {@link oldest}, only lasting ones before it. */
  readonly records: readonly LogRecord[];
  /** The runs of the records, as far back as {@link oldestLasting}. */
  readonly runs: readonly RunStart[];
  /** {@link records} contains every event after this seq. */
  readonly oldest: number;
  /** {@link records} contains every lasting event after this seq; at most {@link oldest}. */
  readonly oldestLasting: number;
  /** Seq of the latest event of each channel that had one in the epoch. */
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
  /** The latest saved state. `records` has every event after its seq. */
  readonly state: StoredState | undefined;
  /** The checkpoints, in order, including that of {@link state}. */
  readonly checkpoints: readonly ListCheckpoint[];
}

interface StoredState {
  readonly seq: number;
  readonly text: string;
  /** Further texts of the state, read one by one. Absent if there are none. */
  readonly slices?: Iterable<string>;
}

export interface ListCheckpoint {
  readonly seq: number;
  readonly bytes: Uint8Array;
}
