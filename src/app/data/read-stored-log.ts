import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { inflateRawSync } from "node:zlib";
import { DamagedError } from "../../base/lib/io/sqlite.ts";
import { CHANNELS, EVENT_NAMES, LASTING_EVENTS, toEpoch, toRun, toSeq } from "../../base/protocol/index.ts";
import { type LogRecord, type RunStart, Runs } from "../../gateway/log/index.ts";
import type { ListCheckpoint, StoredLog } from "./stored-log.ts";

/** Facts about a file that show whether its contents are complete. */
interface FileFacts {
  readonly inode: string;
  readonly boot: string;
  /** Whether there was a write-ahead file, which a clean close removes. */
  readonly hadWriteAhead: boolean;
}

/**
 * Reads the file; `undefined` if it has no epoch yet. Throws DamagedError for contents that this
 * program does not write.
 */
export function readStoredLog(db: DatabaseSync, file: FileFacts): StoredLog | undefined {
  try {
    return readAll(db, file);
  } catch (error) {
    // The epoch, a run or a number has a form that this program does not write.
    throw error instanceof RangeError ? new DamagedError(error.message) : error;
  }
}

function readAll(db: DatabaseSync, file: FileFacts): StoredLog | undefined {
  const all = (sql: string) => db.prepare(sql).all();
  const fact = new Map(all("SELECT name, value FROM fact").map((row) => [row.name, String(row.value)]));
  const epoch = fact.get("epoch");
  if (epoch === undefined) return undefined;
  const state = db.prepare("SELECT seq, text FROM state").get();
  const positions = all("SELECT channel, seq FROM position");
  const [oldest, oldestLasting] = ["oldest", "oldest_lasting"].map((name) => Number(fact.get(name) ?? 0));
  const runs = all("SELECT first, id FROM run ORDER BY first").map(runOf);
  const known = new Runs(runs);
  if (!known.at(oldestLasting ?? 0)) throw new DamagedError("the run of its first records is missing");
  const rows = all("SELECT * FROM record ORDER BY seq");
  const records = gapless(
    rows.map((row) => recordOf(row, known)),
    oldest ?? 0,
  );
  const last = records.at(-1);
  if (last && positions.every(({ seq }) => seq !== last.seq))
    throw new DamagedError(`the last record, ${last.seq}, is not the latest of any channel`);
  return {
    epoch: toEpoch(epoch),
    fingerprint: fact.get("fingerprint") ?? "",
    closedInOrder: fact.get("closed") === "yes",
    doubt: doubtOf(fact, file),
    records,
    runs,
    oldest: oldest ?? 0,
    oldestLasting: oldestLasting ?? 0,
    positions: Object.fromEntries(positions.map(({ channel, seq }) => [String(channel), Number(seq)])),
    state: state && { seq: Number(state.seq), text: String(state.text), ...slicesOf(db, fact) },
    checkpoints: all("SELECT seq, bytes FROM place ORDER BY seq").map(checkpointOf),
  };
}

/** Returns the slices of the stored state, read one by one; nothing if it has none. */
function slicesOf(db: DatabaseSync, fact: ReadonlyMap<unknown, string>): { slices?: Iterable<string> } {
  const [from = 1, to = 0] = [Number(fact.get("slices_from") ?? 1), Number(fact.get("slices_to") ?? 0)];
  if (to < from) return {};
  const sql = "SELECT bytes FROM slice WHERE number BETWEEN ? AND ? ORDER BY number";
  return {
    slices: {
      *[Symbol.iterator]() {
        for (const { bytes } of db.prepare(sql).iterate(from, to)) yield decodeSlice(bytes);
      },
    },
  };
}

function decodeSlice(bytes: unknown): string {
  if (bytes instanceof Uint8Array) return inflateRawSync(bytes).toString("utf8");
  throw new DamagedError("a slice of the state is malformed");
}

/**
 * Returns why a file may lack events that clients received. A copy of a closed file has all events
 * up to the close. If the original was used after the copy was made, cursors from that use name a
 * run that the copy does not have ({@link Runs}), so the copy rejects them. A copy of a file in use
 * may mix pages of different moments.
 */
function doubtOf(fact: ReadonlyMap<unknown, string>, file: FileFacts): string | undefined {
  const isClosed = fact.get("closed") === "yes";
  if (fact.get("inode") !== file.inode && (!isClosed || file.hadWriteAhead))
    return "the file is a copy of a file in use, and may be incomplete";
  if (!isClosed && fact.get("boot") !== file.boot)
    return "the machine went down while the file was in use, so the latest events may be lost";
  return undefined;
}

/** Returns the inode number, which tells a file from its copy. */
export function inodeOf(path: string): string {
  return String(statSync(path, { bigint: true }).ino);
}

function runOf({ first, id }: Readonly<Record<string, unknown>>): RunStart {
  return { from: Number(first), run: id === null ? undefined : toRun(String(id)) };
}

function recordOf(row: Readonly<Record<string, unknown>>, runs: Runs): LogRecord {
  const name = EVENT_NAMES.find((known) => known === row.name);
  const channel = CHANNELS.find((known) => known === row.channel);
  if (!name || !channel || !(row.tail instanceof Uint8Array))
    throw new DamagedError(`record ${row.seq} is malformed`);
  const encoded = Buffer.from(row.tail.buffer, row.tail.byteOffset, row.tail.byteLength);
  const [seq, batch] = [toSeq(Number(row.seq)), toSeq(Number(row.batch))];
  const run = runs.at(seq)?.run;
  return { seq, name, channel, emittedAtMs: Number(row.emitted_at_ms), batch, encoded, run };
}

function checkpointOf({ seq, bytes }: Readonly<Record<string, unknown>>): ListCheckpoint {
  if (bytes instanceof Uint8Array) return { seq: Number(seq), bytes };
  throw new DamagedError(`checkpoint ${seq} is malformed`);
}

/**
 * Returns the records. Throws DamagedError if a record after `oldest` is missing, or if a record at
 * or before `oldest` is not lasting.
 */
function gapless(records: readonly LogRecord[], oldest: number): readonly LogRecord[] {
  const lasting = records.filter(({ seq }) => seq <= oldest).length;
  const outOfOrder = records.find(({ seq, name }, index) =>
    index < lasting ? !LASTING_EVENTS.has(name) : seq !== oldest + 1 + index - lasting,
  );
  if (outOfOrder) throw new DamagedError(`record ${outOfOrder.seq} does not follow the previous one`);
  return records;
}
