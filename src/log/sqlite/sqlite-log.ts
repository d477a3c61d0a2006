import { type Cursor, type EventBody, type Lost, type Seq, toSeq } from "../../protocol/index.ts";
import type { LastingResult, LogRecord, ReadResult, ReplicaLog } from "../event-log.ts";
import { createMemoryLog, type MemoryLogOptions } from "../memory-log.ts";
import { randomEpoch } from "../random-epoch.ts";
import type { Dropped, LogFile } from "./log-file.ts";
import { randomRun } from "./runs.ts";
import type { StoredLog } from "./stored-log.ts";

/** Options of {@link createSqliteLog}: those of the memory log, and the file. */
export interface SqliteLogOptions extends MemoryLogOptions {
  /** Open; the log closes it. */
  readonly file: LogFile;
  /** What the events depend on: kept with a new epoch, so that who opens the file later can tell whether they may go on from it. */
  readonly fingerprint: string;
  /** Go on from what the file holds, in its epoch; without it a new epoch begins. */
  readonly kept?: StoredLog;
  /** Told once, in a sentence, when the file cannot be written any more. */
  readonly onTrouble: (sentence: string, error: unknown) => void;
}

/** An event log that the next process can go on from. */
export interface KeepingLog extends ReplicaLog {
  /**
   * Keeps what belongs to this place in the log, in place of what was kept before; every event behind it is kept too, until the next call. And `place`,
   * which stays for longer beside those of other places: see {@link LogFile.keepState}.
   */
  saveCheckpoint(seq: number, text: string, place: Uint8Array): void;
  /** The file could not be written: from then on events are in this process's memory only. */
  readonly isInMemoryOnly: boolean;
}

/** Records between two deletions of what has fallen off. */
const DROP_EVERY = 512;

/**
 * The event log in a file, and in memory for those who read. A batch is in the file before anybody hears of it, so what a client was
 * told outlives the process: it is in the system's hands then, and only a loss of power takes it back, which the next opening notices.
 *
 * When the file cannot be written, the log goes on in memory, in the same epoch, and removes the file: the next process cannot go on from it.
 */
export function createSqliteLog(options: SqliteLogOptions): KeepingLog {
  return new SqliteLog(options);
}

class SqliteLog implements KeepingLog {
  readonly #file: LogFile;
  readonly #memory: ReplicaLog;
  readonly #onTrouble: SqliteLogOptions["onTrouble"];
  #isInMemoryOnly = false;
  #droppedTo: number;
  #closed = false;

  constructor(options: SqliteLogOptions) {
    const { file, kept, start, fingerprint } = options;
    const epoch = kept?.epoch ?? start?.cursor.epoch ?? options.epoch ?? randomEpoch();
    this.#file = file;
    this.#onTrouble = options.onTrouble;
    const begun = start ?? { cursor: { epoch, seq: toSeq(0) }, positions: {} };
    if (!kept) this.#attempt(() => file.begin(fingerprint, begun));
    // What is continued may have been set back since: the events from here on are told from those that were in their places.
    const run = kept && !options.follows ? randomRun() : undefined;
    const writeAhead = (records: readonly LogRecord[]) => this.#write(records);
    this.#memory = createMemoryLog({ ...options, epoch, run, writeAhead });
    this.#droppedTo = this.#memory.oldest.seq;
  }

  get epoch() {
    return this.#memory.epoch;
  }

  get head() {
    return this.#memory.head;
  }

  get oldest() {
    return this.#memory.oldest;
  }

  get oldestLasting() {
    return this.#memory.oldestLasting;
  }

  get runs() {
    return this.#memory.runs;
  }

  cursorAt(seq: Seq): Cursor {
    return this.#memory.cursorAt(seq);
  }

  strayed(cursor: Cursor): Lost | undefined {
    return this.#memory.strayed(cursor);
  }

  get positions() {
    return this.#memory.positions;
  }

  get bytes() {
    return this.#memory.bytes;
  }

  get isInMemoryOnly(): boolean {
    return this.#isInMemoryOnly;
  }

  append(events: readonly EventBody[]): Promise<readonly LogRecord[]> {
    return this.#memory.append(events);
  }

  appendReplicated(records: readonly LogRecord[]): Promise<readonly LogRecord[]> {
    return this.#memory.appendReplicated(records);
  }

  read(after: Cursor, limit: number): Promise<ReadResult> {
    return this.#memory.read(after, limit);
  }

  readLasting(after: Cursor, limit: number): Promise<LastingResult> {
    return this.#memory.readLasting(after, limit);
  }

  onAppend(listener: (records: readonly LogRecord[]) => void): () => void {
    return this.#memory.onAppend(listener);
  }

  saveCheckpoint(seq: number, text: string, place: Uint8Array): void {
    this.#attempt(() => this.#file.saveCheckpoint(seq, text, place, this.#dropped));
  }

  async close(): Promise<void> {
    this.#attempt(() => this.#file.close());
    this.#closed = true;
    await this.#memory.close();
  }

  #write(records: readonly LogRecord[]): void {
    const dropped = this.#dropped;
    const isDue = dropped.oldest - this.#droppedTo >= DROP_EVERY;
    this.#attempt(() => this.#file.write(records, isDue ? dropped : undefined));
    if (isDue) this.#droppedTo = dropped.oldest;
  }

  get #dropped(): Dropped {
    return { oldest: this.oldest.seq, oldestLasting: this.oldestLasting.seq };
  }

  #attempt(work: () => void): void {
    if (this.#isInMemoryOnly || this.#closed) return;
    try {
      work();
    } catch (error) {
      const { path } = this.#file;
      this.#isInMemoryOnly = true;
      const what = `events are held in memory only: ${path} cannot be written (${messageOf(error)})`;
      this.#onTrouble(`${what}; ${this.#abandon()}`, error);
    }
  }

  #abandon(): string {
    try {
      this.#file.abandon();
      return "the next start begins a new epoch";
    } catch (error) {
      return `it cannot be removed either (${messageOf(error)}): remove it before the next start, which would go on from it otherwise`;
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
