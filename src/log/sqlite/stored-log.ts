import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import {
  CHANNELS,
  type Channel,
  type Epoch,
  EVENT_NAMES,
  LASTING_EVENTS,
  toEpoch,
  toRun,
  toSeq,
} from "../../protocol/index.ts";
import type { LogRecord } from "../event-log.ts";
import { type RunStart, Runs } from "./runs.ts";
import { DamagedError } from "./sqlite-fault.ts";

/** What a file holds of the run before. */
export interface StoredLog {
  readonly epoch: Epoch;
  /** What {@link LogFile.begin} was given for this epoch. */
  readonly fingerprint: string;
  /** The process that wrote it last closed it; else it was killed, or the machine went down. */
  readonly closedInOrder: boolean;
  /** Why nobody can say that it holds everything that its clients were told; `undefined`: it does. */
  readonly doubt: string | undefined;
  /** In order up to the head: behind {@link oldest} without a gap, before it lasting events only. */
  readonly records: readonly LogRecord[];
  /** The runs that the records are of, as far back as {@link oldestLasting}. */
  readonly runs: readonly RunStart[];
  /** Every event behind this seq is in {@link records}. */
  readonly oldest: number;
  /** Every lasting event behind this seq is there; at most {@link oldest}. */
  readonly oldestLasting: number;
  /** Of each channel that had an event in the epoch, the seq of its latest. */
  readonly positions: Readonly<Partial<Record<Channel, number>>>;
  /** What {@link LogFile.keepState} kept last; every record behind its seq is in `records`. */
  readonly state: { readonly seq: number; readonly text: string } | undefined;
  /** The places that it kept, in order; among them that of {@link state}. */
  readonly places: readonly ListCheckpoint[];
}

/** What was kept of one place of the log. */
export interface ListCheckpoint {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/** Reads what the file at `path` holds; `undefined` when no epoch was begun in it. Throws DamagedError for what no log would have written. */
export function readKeptLog(db: DatabaseSync, path: string, boot: string): StoredLog | undefined {
  const all = (sql: string) => db.prepare(sql).all();
  const fact = new Map(all("SELECT name, value FROM fact").map((row) => [row.name, String(row.value)]));
  const epoch = fact.get("epoch");
  if (epoch === undefined) return undefined;
  const state = db.prepare("SELECT seq, text FROM state").get();
  const positions = all("SELECT channel, seq FROM position");
  const [oldest, oldestLasting] = ["oldest", "oldest_lasting"].map((name) => Number(fact.get(name) ?? 0));
  const runs = all("SELECT first, id FROM run ORDER BY first").map(runOf);
  const known = new Runs(runs);
  if (!known.at(oldestLasting ?? 0)) throw new DamagedError("nothing says of which run its records are");
  const rows = all("SELECT * FROM record ORDER BY seq");
  const records = gapless(
    rows.map((row) => recordOf(row, known)),
    oldest ?? 0,
  );
  const last = records.at(-1);
  if (last && positions.every(({ seq }) => seq !== last.seq))
    throw new DamagedError(`no channel stands at its last record, ${last.seq}`);
  return {
    epoch: toEpoch(epoch),
    fingerprint: fact.get("fingerprint") ?? "",
    closedInOrder: fact.get("closed") === "yes",
    doubt: doubtOf(fact, path, boot),
    records,
    runs,
    oldest: oldest ?? 0,
    oldestLasting: oldestLasting ?? 0,
    positions: Object.fromEntries(positions.map(({ channel, seq }) => [String(channel), Number(seq)])),
    state: state && { seq: Number(state.seq), text: String(state.text) },
    places: all("SELECT seq, bytes FROM place ORDER BY seq").map(placeOf),
  };
}

/** Why a file may hold less than its clients were told. */
function doubtOf(fact: ReadonlyMap<unknown, string>, path: string, boot: string): string | undefined {
  if (fact.get("inode") !== inodeOf(path)) return "the file is a copy, and the original may have gone on";
  if (fact.get("closed") !== "yes" && fact.get("boot") !== boot)
    return "the machine went down while it was in use, and what was written last may be lost";
  return undefined;
}

/** What tells a file from its copy. */
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
    throw new DamagedError(`record ${row.seq} is of no known form`);
  const tail = Buffer.from(row.tail.buffer, row.tail.byteOffset, row.tail.byteLength);
  const [seq, batch] = [toSeq(Number(row.seq)), toSeq(Number(row.batch))];
  const run = runs.at(seq)?.run;
  return { seq, name, channel, emittedAtMs: Number(row.emitted_at_ms), batch, tail, run };
}

function placeOf({ seq, bytes }: Readonly<Record<string, unknown>>): ListCheckpoint {
  if (bytes instanceof Uint8Array) return { seq: Number(seq), bytes };
  throw new DamagedError(`place ${seq} is of no known form`);
}

function gapless(records: readonly LogRecord[], oldest: number): readonly LogRecord[] {
  const lasting = records.findIndex(({ seq }) => seq > oldest);
  const tail = lasting < 0 ? records.length : lasting;
  const odd = records.find(({ seq, name }, index) =>
    index < tail ? !LASTING_EVENTS.has(name) : seq !== oldest + 1 + index - tail,
  );
  if (odd) throw new DamagedError(`record ${odd.seq} does not follow the one before`);
  return records;
}
