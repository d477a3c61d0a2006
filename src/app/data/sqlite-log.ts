import type { Notify } from "../../base/lib/notify.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import {
  type LogRecord,
  type LogStart,
  MemoryLog,
  type MemoryLogOptions,
  randomRun,
} from "../../gateway/log/index.ts";
import type { Dropped, LogFile } from "./log-file.ts";
import type { StoredLog } from "./stored-log.ts";

export interface SqliteLogOptions extends MemoryLogOptions {
  readonly file: LogFile;
  /**
   * Identifies the source and its settings. A file is continued only if its fingerprint is the
   * same.
   */
  readonly fingerprint: string;
  /**
   * Continues the file's contents in their epoch. Default: empties the file and starts a new epoch.
   */
  readonly stored?: StoredLog;
  /** Called once, when the file can no longer be written. */
  readonly notify: Notify;
  /** Receives how long each batch took to store, in milliseconds. Default: none. */
  readonly onWritten?: (ms: number) => void;
}

/** Minimum number of dropped records to delete from the file at once. */
const DROP_EVERY = 512;

/**
 * An event log in a file that a later process can resume, with a copy in memory for readers. Each
 * batch is written before anyone sees it; only a power loss can undo that, and the next opening
 * detects it. If a write fails, the log continues in memory and removes the file, so that no
 * process resumes from it.
 */
export class SqliteLog extends MemoryLog {
  readonly #options: SqliteLogOptions;
  #isInMemoryOnly = false;
  #droppedTo: number;
  #closed = false;

  constructor(options: SqliteLogOptions) {
    const { stored, follows, epoch } = options;
    // The file may be a restored backup. A new run distinguishes new events from lost ones with the
    // same seqs.
    const run = stored && !follows ? randomRun() : undefined;
    super({ ...options, epoch: stored?.epoch ?? epoch, run });
    this.#options = options;
    this.#droppedTo = this.oldest.seq;
    if (!stored) this.#begin({ cursor: this.head, positions: {} });
  }

  /** Whether a write has failed. Since then, events are stored in memory only. */
  get isInMemoryOnly(): boolean {
    return this.#isInMemoryOnly;
  }

  /**
   * Replaces the stored state with `text`, and adds `checkpoint`, the lists at this seq. The file
   * retains all later events until the next call: see {@link LogFile.saveCheckpoint}.
   */
  saveCheckpoint(seq: number, text: string, checkpoint: Uint8Array, slices = 0): void {
    this.#attempt((file) => file.saveCheckpoint(seq, text, checkpoint, this.#dropped, slices));
  }

  /** See {@link LogFile.saveSlice}. */
  saveSlice(bytes: Uint8Array): void {
    this.#attempt((file) => file.saveSlice(bytes));
  }

  /** See {@link LogFile.dropSlices}. */
  dropSlices(): boolean {
    let isMore = false;
    this.#attempt((file) => {
      isMore = file.dropSlices();
    });
    return isMore;
  }

  override restart(start: LogStart): Promise<void> {
    this.#begin(start);
    this.#droppedTo = start.cursor.seq;
    return super.restart(start);
  }

  override async close(): Promise<void> {
    this.#attempt((file) => file.close());
    this.#closed = true;
    await super.close();
  }

  #begin(start: LogStart): void {
    this.#attempt((file) => file.begin(this.#options.fingerprint, start));
  }

  protected override writeAhead(records: readonly LogRecord[]): void {
    const dropped = this.#dropped;
    const isDue = dropped.oldest - this.#droppedTo >= DROP_EVERY;
    const { clock, onWritten } = this.#options;
    const startMs = clock.monotonic();
    this.#attempt((file) => {
      file.write(records, isDue ? dropped : undefined);
      onWritten?.(clock.monotonic() - startMs);
    });
    if (isDue) this.#droppedTo = dropped.oldest;
  }

  get #dropped(): Dropped {
    return { oldest: this.oldest.seq, oldestLasting: this.oldestLasting.seq };
  }

  #attempt(work: (file: LogFile) => void): void {
    if (this.#isInMemoryOnly || this.#closed) return;
    const { file, notify } = this.#options;
    try {
      work(file);
    } catch (error) {
      const { path } = file;
      this.#isInMemoryOnly = true;
      const what = `cannot write ${path} (${messageOf(error)}); events are in memory only from now on`;
      notify("error", `${what}; ${this.#abandon()}`, { err: error });
    }
  }

  #abandon(): string {
    try {
      this.#options.file.abandon();
      return "the next start will begin a new epoch";
    } catch (error) {
      return `cannot remove it either (${messageOf(error)}): remove it before the next start, which would otherwise resume from it`;
    }
  }
}
