import {
  type Channel,
  type Cursor,
  type Epoch,
  type EventBody,
  type EventName,
  FlarewireError,
  type Lost,
  type Run,
  type Seq,
} from "../../base/protocol/index.ts";
import type { RunStart } from "./runs.ts";

/** A stored event, encoded once for all readers. */
export interface LogRecord {
  readonly seq: Seq;
  readonly channel: Channel;
  readonly name: EventName;
  readonly emittedAtMs: number;
  /** Seq of the batch's last event. REST serves only states at the end of a batch. */
  readonly batch: Seq;
  /**
   * The run that appended it: the part of the epoch that one process appended. `undefined` for the
   * epoch's first run.
   */
  readonly run?: Run | undefined;
  /** The body as JSON without its opening brace: a frame is a prefix and these bytes. */
  readonly encoded: Buffer;
}

export type ReadResult =
  | {
      readonly kind: "records";
      /** In order, without a gap; empty if the cursor is the head. */
      readonly records: readonly LogRecord[];
    }
  | {
      /** An event after the cursor is missing, or the cursor is not of this log. */
      readonly kind: "lost";
      readonly lost: Lost;
    };

/**
 * The lasting events (`LASTING_EVENTS`, stored longer than others) after a cursor, or the reason
 * that some are lost.
 */
export type LastingResult =
  | {
      readonly kind: "records";
      /** In order. Seqs may be skipped, but no lasting event is. */
      readonly records: readonly LogRecord[];
      /** `records` has every lasting event from `after` up to here; continue from here. */
      readonly through: Seq;
    }
  | Extract<ReadResult, { kind: "lost" }>;

/**
 * Where an empty log starts. A mirror's log starts at a cursor of the log that it mirrors.
 * `positions` has the seq of each channel's latest event at that cursor.
 */
export interface LogStart {
  readonly cursor: Cursor;
  /** The highest position is the cursor's seq. */
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
}

/** A mirror's log: the same events with the same seqs, as far as received. */
export interface FollowerLog extends EventLog {
  /**
   * Like `append`, for one batch of another log of this epoch. Rejects with `invalid-input`,
   * changing nothing, unless the batch is complete and follows the head without a gap.
   */
  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]>;
  /** Replaces the log with an empty one after `start`. Earlier cursors are lost; listeners stay. */
  restart(start: LogStart): Promise<void>;
}

/** Numbers and stores events for any number of readers. One writer: `append`s must not overlap. */
export interface EventLog {
  readonly epoch: Epoch;
  /** The cursor after the newest event; seq 0 in a new log. */
  readonly head: Cursor;
  /** The oldest cursor after which every event is stored. */
  readonly oldest: Cursor;
  /** The oldest cursor after which every lasting event is stored; at most {@link oldest}. */
  readonly oldestLasting: Cursor;
  /** The runs of the epoch, as far back as {@link oldestLasting}. */
  readonly runs: readonly RunStart[];
  /** Returns the cursor after the event with this seq. */
  cursorAt(seq: Seq): Cursor;
  /**
   * Returns the cursor before the first event that was emitted after this time. Returns `undefined`
   * if no stored event is from before: then some may be missing. `lasting`: looks among lasting
   * events only where others are no longer stored.
   */
  cursorAtTime(atMs: number, lasting: boolean): Cursor | undefined;
  /**
   * Returns why the cursor is not of this log, or is beyond its head. Returns `undefined` if it is
   * of this log, or too old to tell.
   */
  strayed(cursor: Cursor): Lost | undefined;
  /** Seq of each channel's latest event in this epoch; 0 if it has none. */
  readonly positions: Readonly<Record<Channel, Seq>>;
  /** Size of the stored events. */
  readonly bytes: number;
  /** Appends a batch atomically; resolves with its stored records. Ignores an empty batch. */
  append(events: readonly EventBody[]): Promise<readonly LogRecord[]>;
  /** Reads up to `limit` (at least 1) events after `after`, with no gap: see {@link ReadResult}. */
  read(after: Cursor, limit: number): Promise<ReadResult>;
  /**
   * Looks at up to `limit` (at least 1) stored events after `after`, and returns the lasting ones.
   */
  readLasting(after: Cursor, limit: number): Promise<LastingResult>;
  /** Calls `listener`, which must not throw, with each batch. Returns a function to unsubscribe. */
  onAppend(listener: (records: readonly LogRecord[]) => void): () => void;
  /** Releases all resources. Afterwards, appending and reading reject with `draining`. */
  close(): Promise<void>;
}

/**
 * Returns the minimum number of events between two checkpoints: a 32nd of the log's `events`, but
 * at least 64.
 */
export function checkpointInterval(events: number): number {
  return Math.max(64, events / 32);
}

/** Encodes a body as a frame's end: UTF-8 JSON without the opening brace, fields in this order. */
export function encodeBody({ name, channel, observed_at, data }: EventBody): Buffer {
  const text = JSON.stringify({ name, channel, observed_at, data }).slice(1);
  // Its own memory, so that `copyOutOfPool` has nothing to copy.
  const encoded = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  encoded.write(text);
  return encoded;
}

/** Decodes the result of {@link encodeBody}. */
export function decodeBody(encoded: Buffer): EventBody {
  return JSON.parse(`{${encoded.toString()}`) as EventBody;
}

/** Throws `invalid-input` unless the records are one complete batch right after `head`, or none. */
export function checkContiguous(records: readonly LogRecord[], head: number): void {
  const last = records.at(-1)?.seq;
  for (const [index, { seq, batch }] of records.entries()) {
    const expected = head + 1 + index;
    if (seq !== expected) throw outOfOrder(`seq is ${seq}; it must be ${expected}`);
    if (batch !== last) throw outOfOrder(`event ${seq} has batch ${batch}; it must be ${last}`);
  }
}

function outOfOrder(message: string): FlarewireError {
  return new FlarewireError("invalid-input", message, { field: "seq" });
}

/**
 * Copies bytes that stay in memory for long out of a larger ArrayBuffer, such as Node's slab of 64
 * KiB (8 KiB in older versions), which is freed only with the last Buffer in it. Without the copy,
 * storing one event in fifty for a day held 22 kB of slabs per 500-byte event.
 */
export function copyOutOfPool(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
