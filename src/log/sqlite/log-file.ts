import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { makePrivateFile, PRIVATE_DIRECTORY } from "../../lib/io/private-file.ts";
import { transact } from "../../lib/io/transact.ts";
import { type Channel, LASTING_EVENTS, type Run } from "../../protocol/index.ts";
import type { LogRecord, LogStart } from "../event-log.ts";
import { bootId } from "./boot-id.ts";
import { DamagedError, FileBusyError, faultOf } from "./sqlite-fault.ts";
import { inodeOf, readKeptLog, type StoredLog } from "./stored-log.ts";

/** Options of {@link openLogFile}. */
export interface LogFileOptions {
  readonly path: string;
  /** Names the files that are set aside, in milliseconds since 1970 UTC. */
  readonly nowMs: number;
  /** Told in a sentence when what was found is set aside. */
  readonly onSetAside: (sentence: string) => void;
  /** Most bytes that the file may grow to, rounded up to whole pages; then it is treated like a full disk. Default: no bound but the disk. */
  readonly maxFileBytes?: number;
}

/** Up to where events need not be kept any more. */
export interface Dropped {
  /** All but those that last. */
  readonly oldest: number;
  /** Those that last too; at most {@link oldest}. */
  readonly oldestLasting: number;
}

/** `FLWR`, in SQLite's header of the file: whose it is. */
const APPLICATION_ID = 0x464c5752;
/** Raised whenever the tables change their meaning. */
const FORM = 4;
/** Form 3 knew no runs: all that such a file holds is of its epoch's first. */
const FORM_WITHOUT_RUNS = 3;
const PAGE_BYTES = 4_096;
/** As many places are kept, about, of a log that is full; and least number of events between two. */
const KEPT_PLACES = 32;
const MIN_INTERVAL = 64;
const LASTING = [...LASTING_EVENTS].map((name) => `'${name}'`).join();
/** What no process crash can take back, where the machine's start can't be told from a process's: nor a loss of power. */
const ALWAYS_SYNCED = "always synced";

const RUNS = "CREATE TABLE run (first INTEGER PRIMARY KEY, id TEXT) STRICT;";
const TABLES = `
  CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE record (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, channel TEXT NOT NULL,
    emitted_at_ms INTEGER NOT NULL, tail BLOB NOT NULL, batch INTEGER NOT NULL) STRICT;
  ${RUNS}
  CREATE TABLE position (channel TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  CREATE TABLE place (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE state (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
`;

/** One level after the other: where nothing can be made, as in /proc, the recursive form of Node turns round for ever. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: PRIVATE_DIRECTORY });
  } catch (error) {
    // Somebody else was quicker.
    if (!existsSync(path)) throw error;
  }
}

/**
 * Opens or makes the file, for this process alone until it is closed or the process dies.
 * What is not a log of ours, or is damaged, is renamed and told, and an empty file takes its place. Throws {@link FileBusyError} while
 * another process has it; else an Error that says what failed: a directory that cannot be written, a disk that is full.
 */
export function openLogFile(options: LogFileOptions): LogFile {
  const { path } = options;
  makeDirectory(dirname(path));
  const open = () => {
    makePrivateFile(path);
    return new LogFile(new DatabaseSync(path), options);
  };
  try {
    return open();
  } catch (error) {
    const fault = faultOf(error);
    if (fault === "busy") throw new FileBusyError(path, { cause: error });
    if (fault !== "damaged" || !existsSync(path)) throw error;
    options.onSetAside(setAside(options, error));
    return open();
  }
}

/** Renames the file, and the write-ahead file that belongs to it. */
function setAside({ path, nowMs }: LogFileOptions, error: unknown): string {
  const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const aside = `${path}.set-aside-${stamp}`;
  for (const suffix of ["-wal", "-shm", ""]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  const why = error instanceof Error ? error.message : String(error);
  return `${path} cannot be used (${why}); it is set aside as ${aside}, and a new log begins`;
}

/** The durable side of an event log: one SQLite file, written ahead. All calls are synchronous, each a transaction of its own. */
export class LogFile {
  readonly path: string;
  /** What was there at the opening; `undefined` in a new file. */
  readonly found: StoredLog | undefined;
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #place: StatementSync;
  readonly #run: StatementSync;
  readonly #boot: string;
  readonly #inode: string;
  #stateSeq = 0;
  #oldest = 0;
  /** Of the newest record. */
  #lastRun: Run | undefined;
  /** Nobody doubts what the file holds: only then may a mark of this process say so. */
  #isSound: boolean;

  /** Use {@link openLogFile}. */
  constructor(db: DatabaseSync, options: LogFileOptions) {
    this.path = options.path;
    this.#db = db;
    const boot = bootId();
    this.#boot = boot ?? ALWAYS_SYNCED;
    try {
      // Exclusive: the lock lies with the process, so that a killed one leaves none, and no shared memory is needed.
      db.exec("PRAGMA locking_mode = EXCLUSIVE");
      // Before anything is changed: another program's database is none of our business.
      const isNew = this.#isNew();
      db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      if (options.maxFileBytes !== undefined)
        db.exec(`PRAGMA max_page_count = ${Math.ceil(options.maxFileBytes / PAGE_BYTES)}`);
      if (isNew) this.#make();
      this.#inode = inodeOf(this.path);
      this.found = readKeptLog(db, this.path, this.#boot);
      this.#stateSeq = this.found?.state?.seq ?? 0;
      this.#oldest = this.found?.oldest ?? 0;
      this.#lastRun = this.found?.runs.at(-1)?.run;
      this.#insert = db.prepare("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)");
      this.#place = db.prepare("INSERT OR REPLACE INTO position VALUES (?, ?)");
      this.#run = db.prepare("INSERT OR REPLACE INTO run VALUES (?, ?)");
      // Until the mark below is on the disk itself, a loss of power would show the state of a clean end that is none any more.
      this.#isSound = this.found?.doubt === undefined;
      if (this.#isSound) this.#facts({ closed: "no", boot: this.#boot });
      if (boot !== undefined) db.exec("PRAGMA synchronous = NORMAL");
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Empties the file for an epoch, or for the part of one behind a cursor: before it nothing is there, not even what lasts. */
  begin(fingerprint: string, { cursor, positions }: LogStart): void {
    const { epoch, seq, run } = cursor;
    transact(this.#db, () => {
      this.#db.exec(
        "DELETE FROM record; DELETE FROM run; DELETE FROM position; DELETE FROM state; DELETE FROM place; DELETE FROM fact",
      );
      this.#facts({ epoch, fingerprint, inode: this.#inode, closed: "no", boot: this.#boot });
      this.#facts({ oldest: `${seq}`, oldest_lasting: `${seq}` });
      this.#run.run(seq, run ?? null);
      for (const [channel, position] of Object.entries(positions)) this.#place.run(channel, position);
    });
    this.#stateSeq = 0;
    this.#oldest = seq;
    this.#lastRun = run;
    this.#isSound = true;
  }

  /**
   * Keeps a batch, whole or not at all, and forgets what was dropped; what {@link saveCheckpoint} needs stays. Throws when the file was
   * removed or replaced meanwhile: the system would go on writing to what no later process can open.
   */
  write(records: readonly LogRecord[], dropped: Dropped | undefined): void {
    if (!this.#isInPlace()) throw new Error("it was removed, moved or replaced");
    transact(this.#db, () => {
      const positions = new Map<Channel, number>();
      for (const { seq, name, channel, emittedAtMs, tail, batch, run } of records) {
        if (run !== this.#lastRun) this.#run.run(seq, run ?? null);
        this.#lastRun = run;
        this.#insert.run(seq, name, channel, emittedAtMs, tail, batch);
        positions.set(channel, seq);
      }
      for (const [channel, seq] of positions) this.#place.run(channel, seq);
      if (dropped) this.#drop(dropped);
    });
  }

  /**
   * Keeps, in place of the state before, the one that belongs to this place in the log; and `place`, what the lists were there, beside those of
   * places before: about {@link KEPT_PLACES} of the log's whole length, and always that of the state.
   */
  saveCheckpoint(seq: number, text: string, place: Uint8Array, dropped: Dropped): void {
    transact(this.#db, () => {
      const interval = Math.max(MIN_INTERVAL, (seq - dropped.oldest) / KEPT_PLACES);
      const [last, beforeLast] = this.#db.prepare("SELECT seq FROM place ORDER BY seq DESC LIMIT 2").all();
      const isClose = last && beforeLast && Number(last.seq) - Number(beforeLast.seq) < interval;
      if (isClose) this.#db.prepare("DELETE FROM place WHERE seq = ?").run(Number(last.seq));
      this.#db.prepare("DELETE FROM place WHERE seq < ?").run(dropped.oldest);
      this.#db.prepare("INSERT OR REPLACE INTO place VALUES (?, ?)").run(seq, place);
      this.#db.prepare("INSERT OR REPLACE INTO state VALUES (1, ?, ?)").run(seq, text);
      this.#stateSeq = seq;
      this.#drop(dropped);
    });
  }

  /** Ends in order: what is in the file is then all that was ever told, whatever happens to the machine. */
  close(): void {
    try {
      this.#db.exec("PRAGMA synchronous = FULL");
      if (this.#isSound) this.#facts({ closed: "yes" });
    } finally {
      this.#db.close();
    }
  }

  /** Gives the file up: it does not hold all that was told any more, so nobody may go on from it. Throws when it cannot be removed. */
  abandon(): void {
    try {
      this.#db.close();
    } finally {
      // What has taken its place may be a backup that somebody has put back.
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

  /** Whether the file is empty; else it is a log of ours, whole, or this throws. */
  #isNew(): boolean {
    const one = (pragma: string): unknown => {
      const row = this.#db.prepare(`PRAGMA ${pragma}`).get();
      return row && Object.values(row)[0];
    };
    if (one("schema_version") === 0) return true;
    if (one("application_id") !== APPLICATION_ID)
      throw new DamagedError("it is a database of another program");
    if (one("user_version") === FORM_WITHOUT_RUNS) this.#addRuns();
    if (one("user_version") !== FORM)
      throw new DamagedError(`its form is ${one("user_version")}; this version reads form ${FORM}`);
    const check = one("quick_check");
    if (check !== "ok") throw new DamagedError(String(check));
    return false;
  }

  #addRuns(): void {
    const from = "INSERT INTO run VALUES (0, NULL)";
    transact(this.#db, () => this.#db.exec(`${RUNS} ${from}; PRAGMA user_version = ${FORM}`));
  }

  #make(): void {
    const marks = `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORM}`;
    transact(this.#db, () => this.#db.exec(`${TABLES} ${marks}`));
  }
}
