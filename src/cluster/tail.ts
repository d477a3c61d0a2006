import { before, type Entry, LOG_START, type Position } from "./entry.ts";

/**
 * What an entry or a commit means for this node.
 *
 * - `kept`: it continues the log as read so far.
 * - `known`: nothing new.
 * - `reread`: what was read but not delivered is no longer in the log. Read again.
 * - `gap`: entries after the delivered ones are no longer in the log.
 * - `fork`: the log has other entries than this node delivered.
 */
export type Reading = "kept" | "known" | "reread" | "gap" | "fork";

/**
 * One node's copy of the end of the log. Entries that were read are pending until their commit is
 * known; then they may be delivered. Each must name the hash of the one before it.
 */
export class Tail {
  readonly #capacity: number;
  /** The latest delivered entries, then the pending ones. */
  #entries: Entry[] = [];
  #delivered: Position;
  /** The highest commit that was announced before its entry was read. */
  #announced: Position = LOG_START;

  /**
   * @param capacity Delivered entries that are remembered, for repairs.
   * @param delivered Where this node's own state stands.
   */
  constructor(capacity: number, delivered: Position = LOG_START) {
    this.#capacity = capacity;
    this.#delivered = delivered;
  }

  get delivered(): Position {
    return this.#delivered;
  }

  /** The end of what was read. */
  get last(): Position {
    return this.#entries.at(-1) ?? this.#delivered;
  }

  /** The last entry that was read; `undefined` if none is remembered. */
  get newest(): Entry | undefined {
    return this.#entries.at(-1);
  }

  /** Whether a commit was announced of an entry that could not be read yet. */
  get lacksCommitted(): boolean {
    return this.#announced.offset > this.last.offset;
  }

  /** Returns the position at an offset, if this node remembers it. */
  at(offset: number): Position | undefined {
    if (offset === this.#delivered.offset) return this.#delivered;
    const [first] = this.#entries;
    if (first !== undefined && offset === first.offset - 1) return before(first);
    return first && this.#entries[offset - first.offset];
  }

  /** Takes the next entry of the log. */
  receive(entry: Entry): Reading {
    const { last } = this;
    if (entry.offset <= last.offset) {
      const own = this.at(entry.offset);
      if (own === undefined || own.hash === entry.hash) return "known";
      return this.#drop(entry.offset <= this.#delivered.offset);
    }
    if (entry.offset > last.offset + 1)
      return last.offset > this.#delivered.offset ? this.#drop(false) : "gap";
    if (entry.header.prev !== last.hash) return this.#drop(last.offset === this.#delivered.offset);
    this.#entries.push(entry);
    return "kept";
  }

  /**
   * Takes the news that the entry at a position, and so every entry before it, is committed.
   * {@link take} then returns them.
   */
  commit(position: Position): Reading {
    if (position.offset > this.last.offset) {
      if (position.offset > this.#announced.offset) this.#announced = position;
      return "known";
    }
    const own = this.at(position.offset);
    if (own === undefined) return "known";
    if (own.hash !== position.hash) return this.#drop(position.offset <= this.#delivered.offset);
    if (position.offset <= this.#delivered.offset) return "known";
    this.#announced = position;
    return "kept";
  }

  /** Returns the committed entries that were not delivered, which now count as delivered. */
  take(): readonly Entry[] {
    const upTo = this.#announced;
    const own = this.at(upTo.offset);
    if (own === undefined || upTo.offset <= this.#delivered.offset) return [];
    // Announced before it was read, and another entry is there now.
    if (own.hash !== upTo.hash) {
      this.#announced = LOG_START;
      this.#drop(false);
      return [];
    }
    const from = this.#delivered.offset;
    this.#delivered = { offset: own.offset, hash: own.hash };
    const taken = this.#entries.filter(({ offset }) => offset > from && offset <= own.offset);
    const spare = this.#entries.findIndex(({ offset }) => offset > own.offset - this.#capacity);
    if (spare > 0) this.#entries.splice(0, spare);
    return taken;
  }

  /** Returns all entries after a position; `undefined` if this node cannot know them. */
  after(position: Position): readonly Entry[] | undefined {
    if (this.at(position.offset)?.hash !== position.hash) return undefined;
    return this.#entries.filter(({ offset }) => offset > position.offset);
  }

  /** Starts over after a position, whatever was delivered. */
  restart(delivered: Position): void {
    this.#entries = [];
    this.#delivered = delivered;
    this.#announced = LOG_START;
  }

  /** Forgets the pending entries. */
  dropPending(): void {
    this.#entries = this.#entries.filter(({ offset }) => offset <= this.#delivered.offset);
  }

  #drop(isFork: boolean): Reading {
    this.dropPending();
    return isFork ? "fork" : "reread";
  }
}
