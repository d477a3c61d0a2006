import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { PRIVATE_DIRECTORY } from "../../base/lib/io/private-file.ts";
import { openDatabase, transact } from "../../base/lib/io/sqlite.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import { type Channel, LASTING_EVENTS, type Run } from "../../base/protocol/index.ts";
import { checkpointInterval, type LogRecord, type LogStart } from "../../gateway/log/index.ts";
import { inodeOf, readStoredLog } from "./read-stored-log.ts";
import { FileBusyError, failureOf } from "./sqlite-failure.ts";
import type { StoredLog } from "./stored-log.ts";

export interface LogFileOptions {
  readonly path: string;
  /**
   * Current time in milliseconds since 1970 UTC. An unusable file that is moved aside is named
   * after it.
   */
  readonly nowMs: number;
  /** Receives a sentence when an unusable file is moved aside. */
  readonly onSetAside: (sentence: string) => void;
  /**
   * Maximum size of the file, without its write-ahead file, in bytes. Beyond it, writes fail as on
   * a full disk. Default: unlimited.
   */
  readonly maxFileBytes?: number;
}

/** The seqs up to which events may be deleted. */
export interface Dropped {
  /** Applies to all events but lasting ones. */
  readonly oldest: number;
  /** Applies to lasting events as well; at most {@link oldest}. */
  readonly oldestLasting: number;
}

const PAGE_BYTES = 4_096;
/** Maximum number of slices deleted in one turn, which takes a few milliseconds. */
const SLICES_AT_ONCE = 20;
const LASTING = [...LASTING_EVENTS].map((name) => `'${name}'`).join();
/** Stands for a missing boot id. Every write is then synced, to survive a power loss. */
const ALWAYS_SYNCED = "always synced";

const SLICES = "CREATE TABLE slice (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";
const RUNS = "CREATE TABLE run (first INTEGER PRIMARY KEY, id TEXT) STRICT;";
const FORM = {
  /** `FLWR`. */
  applicationId: 0x464c5752,
  version: 5,
  tables: `
  CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE record (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, channel TEXT NOT NULL,
    emitted_at_ms INTEGER NOT NULL, tail BLOB NOT NULL, batch INTEGER NOT NULL) STRICT;
  ${RUNS}
  CREATE TABLE position (channel TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE place (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
  ${SLICES}
`,
  /** Version 4 had no slices. Version 3 had no runs: its events are of the epoch's first run. */
  upgrades: { 3: `${RUNS} INSERT INTO run VALUES (0, NULL); ${SLICES}`, 4: SLICES },
};

/** Returns the boot id, if the system has one. While it is the same, no power was lost. */
function bootId(): string | undefined {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Creates directories one by one: Node's recursive form hangs if it fails, as in /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_DIRECTORY });
  } catch (error) {
    // Another process created it first.
    if (!existsSync(path)) throw error;
  }
}

/**
 * Opens or creates the file and locks it until it is closed or the process dies. A foreign or
 * damaged file is renamed, reported, and replaced. Throws {@link FileBusyError} while another
 * process holds it, and other errors as they are.
 */
export function openLogFile(options: LogFileOptions): LogFile {
  const { path } = options;
  makeDirectory(dirname(path));
  const open = () => {
    const hadWriteAhead = existsSync(`${path}-wal`);
    return new LogFile(openDatabase(path, FORM), options, hadWriteAhead);
  };
  try {
    return open();
  } catch (error) {
    const failure = failureOf(error);
    if (failure === "busy") throw new FileBusyError(path, { cause: error });
    if (failure !== "damaged" || !existsSync(path)) throw error;
    options.onSetAside(setAside(options, error));
    return open();
  }
}

/** Renames the file and its write-ahead files. Returns a sentence for the operator. */
function setAside({ path, nowMs }: LogFileOptions, error: unknown): string {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const aside = `${path}.set-aside-${stamp}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  const why = messageOf(error);
  return `${path} is unusable (${why}); moved it to ${aside} and started a new log`;
}

/** The durable part of an event log: an SQLite file in WAL mode. Each call is a transaction. */
export class LogFile {
  readonly path: string;
  /** The stored log at opening; `undefined` in a new file. */
  readonly found: StoredLog | undefined;
  readonly #db: DatabaseSync;
  readonly #insertRecord: StatementSync;
  readonly #setPosition: StatementSync;
  readonly #insertRun: StatementSync;
  readonly #boot: string;
  readonly #inode: string;
  #stateSeq = 0;
  /** Number of the newest slice, complete state or not. */
  #lastSlice = 0;
  #oldest = 0;
  /** Run of the newest record. */
  #lastRun: Run | undefined;
  /** Whether the file is complete. Only then may this process mark it as cleanly closed. */
  #isSound: boolean;

  constructor(db: DatabaseSync, options: LogFileOptions, hadWriteAhead: boolean) {
    this.path = options.path;
    this.#db = db;
    const boot = bootId();
    this.#boot = boot ?? ALWAYS_SYNCED;
    try {
      if (options.maxFileBytes !== undefined)
        db.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxFileBytes / PAGE_BYTES)}`);
      this.#inode = inodeOf(this.path);
      this.found = readStoredLog(db, { inode: this.#inode, boot: this.#boot, hadWriteAhead });
      this.#stateSeq = this.found?.state?.seq ?? 0;
      this.#lastSlice = Number(db.prepare("SELECT max(number) AS last FROM slice").get()?.last ?? 0);
      this.#oldest = this.found?.oldest ?? 0;
      this.#lastRun = this.found?.runs.at(-1)?.run;
      this.#insertRecord = db.prepare("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)");
      this.#setPosition = db.prepare("INSERT OR REPLACE INTO position VALUES (?, ?)");
      this.#insertRun = db.prepare("INSERT OR REPLACE INTO run VALUES (?, ?)");
      // Write `closed: no` before relaxing `synchronous`, so that it is synced. Otherwise, after a
      // power loss, the file could still be marked as closed.
      this.#isSound = this.found?.doubt === undefined;
      if (this.#isSound) this.#facts({ inode: this.#inode, closed: "no", boot: this.#boot });
      if (boot !== undefined) db.exec("PRAGMA synchronous = NORMAL");
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Empties the file, even of lasting events, and starts the log after this cursor. */
  begin(fingerprint: string, { cursor, positions }: LogStart): void {
    const { epoch, seq, run } = cursor;
    transact(this.#db, () => {
      this.#db.exec(
        "DELETE FROM record; DELETE FROM run; DELETE FROM position; DELETE FROM state; DELETE FROM place; DELETE FROM slice; DELETE FROM fact",
      );
      this.#facts({ epoch, fingerprint, inode: this.#inode, closed: "no", boot: this.#boot });
      this.#facts({ oldest: `${seq}`, oldest_lasting: `${seq}` });
      this.#insertRun.run(seq, run ?? null);
      for (const [channel, position] of Object.entries(positions)) this.#setPosition.run(channel, position);
    });
    this.#stateSeq = 0;
    this.#lastSlice = 0;
    this.#oldest = seq;
    this.#lastRun = run;
    this.#isSound = true;
  }

  /**
   * Stores a batch atomically. Deletes dropped events, except those after the stored state. Throws
   * if the file was removed or replaced: no later process could open that inode.
   */
  write(records: readonly LogRecord[], dropped: Dropped | undefined): void {
    if (!this.#isInPlace()) throw new Error("it was removed, moved or replaced");
    transact(this.#db, () => {
      const positions = new Map<Channel, number>();
      for (const { seq, name, channel, emittedAtMs, encoded, batch, run } of records) {
        if (run !== this.#lastRun) this.#insertRun.run(seq, run ?? null);
        this.#lastRun = run;
        this.#insertRecord.run(seq, name, channel, emittedAtMs, encoded, batch);
        positions.set(channel, seq);
      }
      for (const [channel, seq] of positions) this.#setPosition.run(channel, seq);
      if (dropped) this.#drop(dropped);
    });
  }

  /** Stores a slice of the next state. The present state's slices remain. */
  saveSlice(bytes: Uint8Array): void {
    this.#lastSlice += 1;
    this.#db.prepare("INSERT INTO slice VALUES (?, ?)").run(this.#lastSlice, bytes);
  }

  /**
   * Deletes some slices that no stored state has. Returns whether there may be more. Call it after
   * {@link saveCheckpoint}, not while slices of another state are stored.
   */
  dropSlices(): boolean {
    const some =
      "SELECT number FROM slice WHERE number < (SELECT CAST(value AS INTEGER) FROM fact WHERE name = 'slices_from') LIMIT ?";
    return (
      this.#db.prepare(`DELETE FROM slice WHERE number IN (${some})`).run(SLICES_AT_ONCE).changes ===
      SLICES_AT_ONCE
    );
  }

  /**
   * Replaces the stored state with the one at this seq, and adds `checkpoint`, the lists at this
   * seq. Deletes dropped events and the checkpoints before `dropped.oldest`. Also deletes the
   * previous checkpoint if it is less than an interval after the one before it.
   *
   * @param slices The number of slices that were stored last, which belong to this state.
   */
  saveCheckpoint(seq: number, text: string, checkpoint: Uint8Array, dropped: Dropped, slices = 0): void {
    transact(this.#db, () => {
      const last = this.#lastSlice;
      this.#facts({ slices_from: `${last - slices + 1}`, slices_to: `${last}` });
      const interval = checkpointInterval(seq - dropped.oldest);
      const [newest, before] = this.#db.prepare("SELECT seq FROM place ORDER BY seq DESC LIMIT 2").all();
      const isClose = newest && before && Number(newest.seq) - Number(before.seq) < interval;
      if (isClose) this.#db.prepare("DELETE FROM place WHERE seq = ?").run(Number(newest.seq));
      this.#db.prepare("DELETE FROM place WHERE seq < ?").run(dropped.oldest);
      this.#db.prepare("INSERT OR REPLACE INTO place VALUES (?, ?)").run(seq, checkpoint);
      this.#db.prepare("INSERT OR REPLACE INTO state VALUES (1, ?, ?)").run(seq, text);
      this.#stateSeq = seq;
      this.#drop(dropped);
    });
  }

  /** Closes the file, and marks it as closed if it is complete. It then survives a power loss. */
  close(): void {
    try {
      this.#db.exec("PRAGMA synchronous = FULL");
      if (this.#isSound) this.#facts({ closed: "yes" });
    } finally {
      this.#db.close();
    }
  }

  /** Removes the file, which lacks events that clients received. Throws if that fails. */
  abandon(): void {
    try {
      this.#db.close();
    } finally {
      // A file at this path that is not ours may be a restored backup.
      const suffixes = this.#isInPlace() ? ["", "-wal", "-shm"] : [];
      for (const suffix of suffixes) rmSync(this.path + suffix, { force: true });
    }
  }

  #isInPlace(): boolean {
    return existsSync(this.path) && inodeOf(this.path) === this.#inode;
  }

  #drop(dropped: Dropped): void {
    const oldest = Math.max(this.#oldest, Math.min(dropped.oldest, this.#stateSeq));
    const oldestLasting = Math.min(dropped.oldestLasting, oldest);
    const others = `DELETE FROM record WHERE seq > ? AND seq <= ? AND name NOT IN (${LASTING})`;
    this.#db.prepare(others).run(this.#oldest, oldest);
    this.#db.prepare("DELETE FROM record WHERE seq <= ?").run(oldestLasting);
    const ended = "DELETE FROM run WHERE first < (SELECT max(first) FROM run WHERE first <= ?)";
    this.#db.prepare(ended).run(oldestLasting);
    this.#facts({ oldest: `${oldest}`, oldest_lasting: `${oldestLasting}` });
    this.#oldest = oldest;
  }

  #facts(facts: Readonly<Record<string, string>>): void {
    const set = this.#db.prepare("INSERT OR REPLACE INTO fact VALUES (?, ?)");
    for (const [name, value] of Object.entries(facts)) set.run(name, value);
  }
}
