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
export const ENTRY_KINDS = ["base", "term", "batch", "alive", "handover"] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The part of an entry that the protocol reads. */
export interface EntryHeader {
  readonly kind: EntryKind;
  /** Term of the leader that wrote it. A later leader has a higher term. */
  readonly term: number;
  /** Id of the node that wrote it. */
  readonly by: string;
  /** Different for each entry ever written, so that equal bytes are the same entry. */
  readonly nonce: string;
  /** Hash of the previous entry. */
  readonly prev: string;
  /** Highest offset that the writer knows to be committed. Always lower than the entry's own. */
  readonly committed: number;
  readonly epoch: string;
}

/** An entry of the replicated log. The protocol does not read the body, which encodes the batch. */
export interface Entry extends Position {
  readonly header: EntryHeader;
  readonly body: Buffer;
}

/** Returns the position before the entry. */
export function before({ offset, header }: Entry): Position {
  return { offset: offset - 1, hash: header.prev };
}

export function isSame(one: Position, other: Position): boolean {
  return one.offset === other.offset && one.hash === other.hash;
}
