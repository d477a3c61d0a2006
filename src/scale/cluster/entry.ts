import { z } from "zod";

/** A position in the replicated log. Offset 0 with hash `""` is before the first entry. */
export interface Position {
  /** Offsets count from 1, without gaps. */
  readonly offset: number;
  /** Hash of the entry at this offset, which covers the hash of the entry before it. */
  readonly hash: string;
}

export const LOG_START: Position = { offset: 0, hash: "" };

/**
 * - `base`: an epoch starts.
 * - `term`: a leader's term starts.
 * - `batch`: events.
 * - `alive`: a sign of life from a leader without events.
 * - `handover`: a leader leaves.
 */
const EntryKind = z.enum(["base", "term", "batch", "alive", "handover"]);
export type EntryKind = z.infer<typeof EntryKind>;

const Count = z.int().min(0);
const Text = z.string().max(256);

/** The part of an entry that the protocol reads. */
export const EntryHeader = z.object({
  kind: EntryKind,
  /** Term of the leader that wrote it. A later leader has a higher term. */
  term: Count,
  /** Id of the node that wrote it. */
  by: Text,
  /** Different for each entry ever written, so that equal bytes are the same entry. */
  nonce: Text,
  /** Hash of the previous entry. */
  prev: Text,
  /** Highest offset that the writer knows to be committed. Always lower than the entry's own. */
  committed: Count,
  epoch: Text,
});
export type EntryHeader = Readonly<z.infer<typeof EntryHeader>>;

/**
 * An entry of the replicated log. The protocol does not read the body. It encodes the events in a
 * `batch` and the leader's report in an `alive`, and is empty in the other kinds.
 */
export interface Entry extends Position {
  readonly header: EntryHeader;
  readonly body: Buffer;
}

/** The position in the log, and its epoch, from which a node with a stored state continues. */
export interface MemberStart {
  readonly position: Position;
  readonly epoch: string;
  /** Term in which the state was stored. */
  readonly term: number;
}

/** Returns the position before the entry. */
export function before({ offset, header }: Entry): Position {
  return { offset: offset - 1, hash: header.prev };
}

export function isSame(one: Position, other: Position): boolean {
  return one.offset === other.offset && one.hash === other.hash;
}
