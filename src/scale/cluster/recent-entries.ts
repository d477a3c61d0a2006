import { before, type Entry, LOG_START, type Position } from "./entry.ts";

/**
 * What an entry or a commit means for this node.
 *
 * - `accepted`: the entry continues the log as read so far, or the commit is a later one.
 * - `known`: there is nothing to do. The entry or commit is not new, or the commit's entry is not
 * read yet.
 * - `reread`: the log has replaced entries that were read but not delivered. Read again.
 * - `gap`: the entries right after the delivered ones are gone; later ones are there.
 * - `fork`: the log has other entries in place of delivered ones.
 */
export type Reading = "accepted" | "known" | "reread" | "gap" | "fork";

/**
 * One node's copy of the end of the log. An entry that was read is pending until its commit is
 * known, and may then be delivered. Each entry must contain the previous entry's hash.
 */
export class RecentEntries {
  readonly #capacity: number;
  /** The latest delivered entries, then the pending ones. */
  #entries: Entry[] = [];
  #delivered: Position;
  /**
   * Committed position up to which entries may be delivered. The entry there may not be read yet. A
   * lower commit replaces it if that commit's entry was read. Without this rule, 2 of 10,000
   * simulated runs of slow nodes ended up without a leader or a delivery.
   */
  #announced: Position = LOG_START;

  /**
   * @param capacity Number of delivered entries to remember, for repairs.
   * @param delivered Position of this node's own state.
   */
  constructor(capacity: number, delivered: Position = LOG_START) {
    this.#capacity = capacity;
    this.#delivered = delivered;
  }

  get delivered(): Position {
    return this.#delivered;
  }

  /** Position of the last entry that was read, or else the delivered position. */
  get last(): Position {
    return this.#entries.at(-1) ?? this.#delivered;
  }

  /** The last entry that was read; `undefined` if none is remembered. */
  get newest(): Entry | undefined {
    return this.#entries.at(-1);
  }

  /** Whether an announced commit lies beyond the last entry that was read. */
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

  /** Adds the next entry of the log. */
  receive(entry: Entry): Reading {
    const { last } = this;
    if (entry.offset <= last.offset) {
      const own = this.at(entry.offset);
      if (own === undefined || own.hash === entry.hash) return "known";
      return this.#drop(entry.offset <= this.#delivered.offset);
    }
    if (entry.offset > last.offset + 1) {
      this.dropPending();
      return "gap";
    }
    if (entry.header.prev !== last.hash) return this.#drop(last.offset === this.#delivered.offset);
    this.#entries.push(entry);
    return "accepted";
  }

  /**
   * Records that the entry at a position, and so every entry before it, is committed. {@link take}
   * then returns these entries.
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
    return "accepted";
  }

  /** Returns the committed entries that are not delivered yet. They then count as delivered. */
  take(): readonly Entry[] {
    const upTo = this.#announced;
    const own = this.at(upTo.offset);
    if (own === undefined || upTo.offset <= this.#delivered.offset) return [];
    // The commit was announced before the entry was read, and the log now has another entry there.
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

  /** Returns all entries after a position; `undefined` if this node does not remember it. */
  after(position: Position): readonly Entry[] | undefined {
    if (this.at(position.offset)?.hash !== position.hash) return undefined;
    return this.#entries.filter(({ offset }) => offset > position.offset);
  }

  /** Starts over after a position, which then counts as delivered. */
  restart(delivered: Position): void {
    this.#entries = [];
    this.#delivered = delivered;
    this.#announced = LOG_START;
  }

  dropPending(): void {
    this.#entries = this.#entries.filter(({ offset }) => offset <= this.#delivered.offset);
  }

  #drop(isFork: boolean): Reading {
    this.dropPending();
    return isFork ? "fork" : "reread";
  }
}
