import type { Channel, Cursor, Epoch, EventBody, EventName, Lost, Run, Seq } from "../protocol/index.ts";
import type { RunStart } from "./sqlite/runs.ts";

/** An event in its place. Encoded once, here, for every reader. */
export interface LogRecord {
  readonly seq: Seq;
  readonly channel: Channel;
  readonly name: EventName;
  /** Wall-clock time at which it was appended. */
  readonly emittedAtMs: number;
  /** Seq of the last event of the batch that it was appended with: at batch ends the state is one that REST served. */
  readonly batch: Seq;
  /** The run that appended it; left out in the epoch's first run. */
  readonly run?: Run | undefined;
  /** The event's body as JSON text without its opening brace: `"name":…,"channel":…,"observed_at":…,"data":{…}}`, UTF-8. A frame is a head and this. */
  readonly tail: Buffer;
}

/** The answer to a read: the events that follow the cursor, or that they cannot all be had. */
export type ReadResult =
  | {
      readonly kind: "records";
      /** In order, without a gap; empty when the cursor is the head. */
      readonly records: readonly LogRecord[];
    }
  | {
      /** At least one event after the cursor is not held, or the cursor is not of this log. Nothing is given rather than a part. */
      readonly kind: "lost";
      readonly lost: Lost;
    };

/** The answer to a read of lasting events only. */
export type LastingResult =
  | {
      readonly kind: "records";
      /** In order; seqs may be left out, but no lasting event is. */
      readonly records: readonly LogRecord[];
      /** Every lasting event up to here is in `records`: where to go on from. Behind `after`, unless that is the head. */
      readonly through: Seq;
    }
  | Extract<ReadResult, { kind: "lost" }>;

/** A log that can take over events that have their places already. */
export interface ReplicaLog extends EventLog {
  /**
   * Appends one whole batch of another log of the same epoch, each record as it stands there. Rejects with FlarewireError `invalid-input`,
   * and changes nothing, where the batch does not begin behind the head, has a gap, or is not whole. For the rest as `append`.
   */
  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]>;
}

/** Where a log that follows another one begins: a cursor of the other log, and its positions there. */
export interface LogStart {
  readonly cursor: Cursor;
  /** The highest of them is the cursor's seq. */
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
}

/** The log of a gateway that follows another: the same events in the same places, as far as it was there. */
export interface FollowerLog extends ReplicaLog {
  /** Begins anew behind `start`, in its epoch, and lets go of all events. Cursors before it are lost from then on. Listeners stay, and hear of what is appended later. */
  restart(start: LogStart): Promise<void>;
}

/**
 * The bus: gives each event its place, keeps the latest, and lets any number of readers go on from their own cursor. One
 * writer: calls of `append` are made one after the other.
 */
export interface EventLog {
  readonly epoch: Epoch;
  /** Behind the newest event; seq 0 in a new log. */
  readonly head: Cursor;
  /** The oldest cursor from which everything can still be had. */
  readonly oldest: Cursor;
  /** The oldest cursor from which every lasting event (`LASTING_EVENTS`) can still be had: {@link oldest}, or before it. */
  readonly oldestLasting: Cursor;
  /** The runs of the epoch, as far back as {@link oldestLasting}. */
  readonly runs: readonly RunStart[];
  /** The cursor of the place behind the event of this seq. */
  cursorAt(seq: Seq): Cursor;
  /** Why the cursor is not of this history, whatever is still held of it; `undefined`: it is, or lies too far back to tell. */
  strayed(cursor: Cursor): Lost | undefined;
  /** Seq of each channel's latest event in this epoch; 0 when there was none. */
  readonly positions: Readonly<Record<Channel, Seq>>;
  /** Bytes that the held events take. */
  readonly bytes: number;
  /** Appends one batch, all or nothing, and resolves with its records once they are kept. Empty batches change nothing. */
  append(events: readonly EventBody[]): Promise<readonly LogRecord[]>;
  /** The events after `after`, at most `limit` of them (1 or more). All or nothing as to holes: see {@link ReadResult}. */
  read(after: Cursor, limit: number): Promise<ReadResult>;
  /** Of the events after `after` those that last (`LASTING_EVENTS`), out of the next `limit` (1 or more) that are held; nothing is given rather than a part. */
  readLasting(after: Cursor, limit: number): Promise<LastingResult>;
  /** Calls `listener` after each append with its records, in order. Returns how to stop it. A listener must not throw. */
  onAppend(listener: (records: readonly LogRecord[]) => void): () => void;
  /** Releases what the log holds; afterwards `append` and `read` reject. */
  close(): Promise<void>;
}
