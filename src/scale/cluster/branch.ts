import { before, type Entry, isSame, type Position } from "./entry.ts";
import type { RecentEntries } from "./recent-entries.ts";

/**
 * - `own`: the log contains what this node delivered, or ends within it.
 * - `new-epoch`: the log has a committed new epoch.
 * - `fork`: the log has committed entries that contradict what this node delivered.
 * - `unknown`: so far, neither a contradicting entry nor a new epoch is committed.
 */
type Verdict = "own" | "new-epoch" | "fork" | "unknown";

/**
 * The entries read so far from a log that contradicts what this node delivered. When an entry
 * starts a new epoch, the entries before it are dropped here. The log may belong to a *former
 * primary*: a database server that was the primary before a fail-over. Its contradicting entries
 * are never committed. Otherwise it is the cluster's, and the servers (engine.ts) lost more entries
 * than the nodes remember.
 */
export class Branch {
  #entries: Entry[] = [];
  #announced: Position | undefined;

  /**
   * The entry that starts the log's latest epoch; `undefined` if it was trimmed or not read yet.
   */
  get base(): Entry | undefined {
    const [first] = this.#entries;
    return first?.header.kind === "base" ? first : undefined;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Adds the next entry of the log if it continues what was read. Returns whether it does. */
  receive(entry: Entry): boolean {
    const last = this.#entries.at(-1);
    if (last && isSame(last, entry)) return true;
    if (last && !isSame(last, before(entry))) return false;
    if (entry.header.kind === "base") this.#entries = [];
    this.#entries.push(entry);
    return true;
  }

  commit(position: Position): void {
    this.#announced = position;
  }

  /**
   * Decides which history is the cluster's: the log's or this node's (`recent`).
   *
   * @param head End of the log, up to which it was read.
   * @param pastEpochs Epochs that this node has left for good.
   * @param epoch This node's current epoch.
   */
  judge(recent: RecentEntries, head: Position, pastEpochs: ReadonlySet<string>, epoch: string): Verdict {
    const { delivered } = recent;
    const stray = this.#entries.find(
      ({ offset, header }) => offset > delivered.offset && pastEpochs.has(header.epoch),
    );
    const isShort = head.offset <= delivered.offset && recent.after(head) !== undefined;
    if (!stray && (isShort || this.#has(delivered))) return "own";
    const { base } = this;
    const isNew = base !== undefined && base.header.epoch !== epoch && !pastEpochs.has(base.header.epoch);
    if (isNew && this.#isCommitted(base)) return "new-epoch";
    const other =
      stray ??
      this.#entries.find(({ offset, hash }) => {
        const own = recent.at(offset);
        return own === undefined ? offset > delivered.offset : own.hash !== hash;
      });
    return other && this.#isCommitted(other) ? "fork" : "unknown";
  }

  #has(position: Position): boolean {
    const [first] = this.#entries;
    const own = first && this.#entries[position.offset - first.offset];
    return own !== undefined && isSame(own, position);
  }

  #isCommitted({ offset }: Position): boolean {
    const claimed = this.#entries.at(-1)?.header.committed ?? 0;
    const announced = this.#announced && this.#has(this.#announced) ? this.#announced.offset : 0;
    return Math.max(claimed, announced) >= offset;
  }

  clear(): void {
    this.#entries = [];
  }
}
