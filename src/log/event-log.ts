import type { Channel, Cursor, Epoch, EventBody, EventName, Lost, Run, Seq } from "../protocol/index.ts";
import type { RunStart } from "./sqlite/runs.ts";

/** A stored event, encoded once for all readers. */
export interface LogRecord {
  readonly seq: Seq;
  readonly channel: Channel;
  readonly name: EventName;
  /** Wall-clock time of the append. */
  readonly emittedAtMs: number;
  /**
   * Seq of the last event in the same batch. REST only ever served states at the end of a batch.
   */
  readonly batch: Seq;
  /** The run that appended it; `undefined` for the epoch's first run. */
  readonly run?: Run | undefined;
  /**
   * The event's body as JSON text in UTF-8 without the opening brace:
   * `"name":…,"channel":…,"observed_at":…,"data":{…}}`. A frame is a prefix and this tail.
   */
  readonly tail: Buffer;
}

/** The events after a cursor, or the reason that some are lost. */
export type ReadResult =
  | {
      readonly kind: "records";
      /** In order, without a gap; empty if the cursor is the head. */
      readonly records: readonly LogRecord[];
    }
  | {
      /**
       * The log lacks an event after the cursor, or the cursor is not of this log. No partial
       * result is returned.
       */
      readonly kind: "lost";
      readonly lost: Lost;
    };

/** The lasting events after a cursor, or the reason that some are lost. */
export type LastingResult =
  | {
      readonly kind: "records";
      /** In order. Seqs may be skipped, but no lasting event is. */
      readonly records: readonly LogRecord[];
      /**
       * `records` contains every lasting event up to here; continue from here. After `after`,
       * unless that is the head.
       */
      readonly through: Seq;
    }
  | Extract<ReadResult, { kind: "lost" }>;

/** A log that can append events that already have seqs. */
export interface ReplicaLog extends EventLog {
  /**
   * Appends one batch of another log of the same epoch, unchanged. Rejects with FlarewireError
   * `invalid-input`, and changes nothing, unless the batch is complete and follows the head without
   * a gap. Otherwise works like `append`.
   */
  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]>;
}

/** Where a log starts that mirrors another one: a cursor of that log, and its positions there. */
export interface LogStart {
  readonly cursor: Cursor;
  /** The highest position is the cursor's seq. */
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
}

/**
 * The log of a gateway that mirrors another: the same events with the same seqs, as far as it
 * received them.
 */
export interface FollowerLog extends ReplicaLog {
  /**
   * Starts over after `start`, in its epoch, without events. Earlier cursors are lost from then on.
   * Listeners stay.
   */
  restart(start: LogStart): Promise<void>;
}

/**
 * Assigns seqs to events, stores the latest, and lets any number of readers continue from their
 * cursors. There is one writer: `append` calls must not overlap.
 */
export interface EventLog {
  readonly epoch: Epoch;
  /** The cursor after the newest event; seq 0 in a new log. */
  readonly head: Cursor;
  /** The oldest cursor after which every event is stored. */
  readonly oldest: Cursor;
  /**
   * The oldest cursor after which every lasting event (`LASTING_EVENTS`) is stored; at most
   * {@link oldest}.
   */
  readonly oldestLasting: Cursor;
  /** The runs of the epoch, as far back as {@link oldestLasting}. */
  readonly runs: readonly RunStart[];
  /** Returns the cursor after the event with this seq. */
  cursorAt(seq: Seq): Cursor;
  /**
   * Returns why the cursor is not of this history. Returns `undefined` if it is, or is too old to
   * tell.
   */
  strayed(cursor: Cursor): Lost | undefined;
  /** Seq of each channel's latest event in this epoch; 0 if it has none. */
  readonly positions: Readonly<Record<Channel, Seq>>;
  /** Bytes that the stored events take. */
  readonly bytes: number;
  /**
   * Appends one batch atomically, and resolves with its records once they are stored. Ignores an
   * empty batch.
   */
  append(events: readonly EventBody[]): Promise<readonly LogRecord[]>;
  /**
   * Reads up to `limit` (at least 1) events after `after`. Never returns a result with gaps: see
   * {@link ReadResult}.
   */
  read(after: Cursor, limit: number): Promise<ReadResult>;
  /**
   * Reads the lasting events (`LASTING_EVENTS`) among the next `limit` (at least 1) stored events
   * after `after`. Returns no partial result.
   */
  readLasting(after: Cursor, limit: number): Promise<LastingResult>;
  /**
   * Calls `listener` with the records of each append, in order. It must not throw. Returns a
   * function that unsubscribes.
   */
  onAppend(listener: (records: readonly LogRecord[]) => void): () => void;
  /** Releases all resources. Afterwards `append` and `read` reject. */
  close(): Promise<void>;
}
