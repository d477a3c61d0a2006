import type { Notify } from "../../lib/notify.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { toSeq } from "../../protocol/index.ts";
import type { LogRecord, ReplicaLog } from "../event-log.ts";
import { ForwardingLog } from "../forwarding-log.ts";
import { createMemoryLog, type MemoryLogOptions } from "../memory-log.ts";
import { randomEpoch } from "../random-epoch.ts";
import type { Dropped, LogFile } from "./log-file.ts";
import { randomRun } from "./runs.ts";
import type { StoredLog } from "./stored-log.ts";

export interface SqliteLogOptions extends MemoryLogOptions {
  readonly file: LogFile;
  /** Identifies the source and its settings: a process resumes only an equal one. */
  readonly fingerprint: string;
  /** Continues the file's contents in their epoch. Default: starts a new epoch. */
  readonly stored?: StoredLog;
  /** Called once, when the file can no longer be written. */
  readonly notify: Notify;
  /** Receives how long each batch took to store, in milliseconds. Default: none. */
  readonly onWritten?: (ms: number) => void;
}

/** An event log that a later process can resume. */
export interface DurableLog extends ReplicaLog {
  /**
   * Replaces the stored state with `text`, and adds `checkpoint`, the lists at this seq. The file
   * retains all later events until the next call: see {@link LogFile.saveCheckpoint}.
   */
  saveCheckpoint(seq: number, text: string, checkpoint: Uint8Array): void;
  /** Whether a write has failed. Since then, events are in memory only. */
  readonly isInMemoryOnly: boolean;
}

/** Minimum number of dropped records to delete from the file at once. */
const DROP_EVERY = 512;

/**
 * Creates an event log in a file, with a copy in memory for readers. Each batch is written before
 * anyone sees it; only a power loss can undo that, and the next opening detects it. If the file
 * fails, the log continues in memory and removes it, so that no process resumes from it.
 */
export function createSqliteLog(options: SqliteLogOptions): DurableLog {
  return new SqliteLog(options);
}

class SqliteLog extends ForwardingLog implements DurableLog {
  readonly #file: LogFile;
  readonly #notify: Notify;
  readonly #clock: Clock;
  readonly #onWritten: (ms: number) => void;
  #isInMemoryOnly = false;
  #droppedTo: number;
  #closed = false;
  protected log: ReplicaLog;

  constructor(options: SqliteLogOptions) {
    super();
    const { file, stored, start, fingerprint } = options;
    const epoch = stored?.epoch ?? start?.cursor.epoch ?? options.epoch ?? randomEpoch();
    this.#file = file;
    this.#notify = options.notify;
    this.#clock = options.clock;
    this.#onWritten = options.onWritten ?? (() => {});
    const begun = start ?? { cursor: { epoch, seq: toSeq(0) }, positions: {} };
    if (!stored) this.#attempt(() => file.begin(fingerprint, begun));
    // The file may be a restored backup. A new run distinguishes new events from lost ones with the
    // same seqs.
    const run = stored && !options.follows ? randomRun() : undefined;
    const writeAhead = (records: readonly LogRecord[]) => this.#write(records);
    this.log = createMemoryLog({ ...options, epoch, run, writeAhead });
    this.#droppedTo = this.log.oldest.seq;
  }

  get isInMemoryOnly(): boolean {
    return this.#isInMemoryOnly;
  }

  saveCheckpoint(seq: number, text: string, checkpoint: Uint8Array): void {
    this.#attempt(() => this.#file.saveCheckpoint(seq, text, checkpoint, this.#dropped));
  }

  override async close(): Promise<void> {
    this.#attempt(() => this.#file.close());
    this.#closed = true;
    await super.close();
  }

  #write(records: readonly LogRecord[]): void {
    const dropped = this.#dropped;
    const isDue = dropped.oldest - this.#droppedTo >= DROP_EVERY;
    const startMs = this.#clock.monotonic();
    this.#attempt(() => {
      this.#file.write(records, isDue ? dropped : undefined);
      this.#onWritten(this.#clock.monotonic() - startMs);
    });
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
      const what = `cannot write ${path} (${messageOf(error)}); events are in memory only from now on`;
      this.#notify("error", `${what}; ${this.#abandon()}`, { err: error });
    }
  }

  #abandon(): string {
    try {
      this.#file.abandon();
      return "the next start will begin a new epoch";
    } catch (error) {
      return `cannot remove it either (${messageOf(error)}): remove it before the next start, which would otherwise resume from it`;
    }
  }
}
