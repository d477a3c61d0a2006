import { promisify } from "node:util";
import { deflateRaw, inflateRaw, inflateRawSync } from "node:zlib";
import { messageOf } from "../../../base/lib/text/message-of.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { type Lists, toEpoch, toRun } from "../../../base/protocol/index.ts";
import type { Head, ListHistory } from "../../../gateway/hub/index.ts";
import { type EventLog, type LogRecord, type RunStart, Runs } from "../../../gateway/log/index.ts";
import {
  type EngineProgress,
  encodeLists,
  FAST_COMPRESSION,
  formatState,
} from "../../../gateway/persistence/index.ts";
import type { Checkpoint, Engine } from "../engine.ts";
import { isSame, LOG_START, type Position } from "../entry.ts";
import type { ClusterTask } from "./cluster-task.ts";
import { decodeContent, readRecords, recordsText } from "./entry-body.ts";
import type { LogSnapshot } from "./replica-store.ts";

/** A node's log, lists and alerts. */
export interface NodeState {
  readonly log: EventLog;
  readonly head: Head;
  readonly history: ListHistory;
  readonly task: Pick<ClusterTask, "content">;
}

/** Version of the stored log. A node that starts cannot read any other. */
const VERSION = 2;
const ALL = Number.MAX_SAFE_INTEGER;
/** Length of the number before each slice. */
const FRAME_BYTES = 4;

/** The first line of the stored log. The lasting events follow. */
interface Summary {
  readonly v: number;
  readonly seq: number;
  readonly positions: Readonly<Record<string, number>>;
  readonly observedAtMs: number;
  readonly oldestLasting: number;
  readonly runs: readonly RunStart[];
  /** All lists are deflated, in base64. */
  readonly lists: string;
  readonly checkpoints: readonly { readonly seq: number; readonly lists: string }[];
}

/** Encodes the state of a node for {@link readStoredLog} and for a later leader. */
export class StateEncoder {
  readonly #checkpoints = new Map<number, string>();

  /** Encodes the state at the time of the call. `pause` is called after each slice of an engine. */
  async encode(
    { log, head, history, task }: NodeState,
    fingerprint: string,
    progress: EngineProgress | undefined,
    pause: () => Promise<void> = async () => {},
  ): Promise<Checkpoint["values"]> {
    const { seq } = head.cursor;
    const state = formatState(head, progress);
    const { content } = task;
    const summary: Summary = {
      v: VERSION,
      seq,
      positions: { ...log.positions },
      observedAtMs: head.observedAtMs,
      oldestLasting: log.oldestLasting.seq,
      runs: log.runs,
      lists: base64(history.lists),
      checkpoints: this.#encodeCheckpoints(history),
    };
    const lasting = await lastingRecords(log, seq);
    const text = `${JSON.stringify(summary)}\n${recordsText(lasting)}`;
    const slices: Buffer[] = [];
    for (const slice of progress?.slices ?? []) {
      slices.push(framed(await deflate(slice, FAST_COMPRESSION)));
      await pause();
    }
    return {
      fingerprint: Buffer.from(fingerprint),
      state: await deflate(state, FAST_COMPRESSION),
      slices: Buffer.concat(slices),
      log: await deflate(text, FAST_COMPRESSION),
      alerts: await deflate(content, FAST_COMPRESSION),
    };
  }

  /** Encodes each checkpoint once. */
  #encodeCheckpoints({ checkpoints }: ListHistory): Summary["checkpoints"] {
    const seqs = new Set<number>(checkpoints.map(({ seq }) => seq));
    for (const seq of this.#checkpoints.keys()) if (!seqs.has(seq)) this.#checkpoints.delete(seq);
    return checkpoints.map(({ seq, lists }) => {
      const text = this.#checkpoints.get(seq) ?? base64(lists());
      this.#checkpoints.set(seq, text);
      return { seq, lists: text };
    });
  }
}

const deflate = promisify<Buffer | string, object, Buffer>(deflateRaw);
const inflate = promisify<Buffer, Buffer>(inflateRaw);

function base64(lists: Lists): string {
  return Buffer.from(encodeLists(lists)).toString("base64");
}

async function lastingRecords(log: EventLog, upTo: number): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for (let at = log.oldestLasting; at.seq < upTo; ) {
    const result = await log.readLasting(at, ALL);
    if (result.kind === "lost" || result.through <= at.seq) break;
    found.push(...result.records.filter(({ seq }) => seq <= upTo));
    at = log.cursorAt(result.through);
  }
  return found;
}

/**
 * Returns a stored text: the state of the source's engine, or the alerts; `undefined` if there is
 * none.
 */
export async function storedText(
  { values }: Checkpoint,
  name: "state" | "alerts",
): Promise<string | undefined> {
  const bytes = values[name];
  return bytes && (await inflate(bytes)).toString();
}

/** Returns the bytes with their length before them. */
function framed(bytes: Buffer): Buffer {
  const frame = Buffer.alloc(FRAME_BYTES + bytes.length);
  frame.writeUInt32BE(bytes.length);
  bytes.copy(frame, FRAME_BYTES);
  return frame;
}

/** Returns the slices of the stored state, read one by one; none if an older release stored it. */
export function storedSlices({ values }: Checkpoint): Iterable<string> {
  const bytes = values.slices ?? Buffer.alloc(0);
  return {
    *[Symbol.iterator]() {
      for (let at = 0; at < bytes.length; ) {
        const end = at + FRAME_BYTES + bytes.readUInt32BE(at);
        yield inflateRawSync(bytes.subarray(at + FRAME_BYTES, end)).toString();
        at = end;
      }
    },
  };
}

/** What a node continues from, or the problem with it; neither if nothing is stored. */
type StoredNode =
  | { readonly stored: Checkpoint; readonly snapshot: LogSnapshot; readonly problem?: undefined }
  | { readonly stored?: undefined; readonly snapshot?: undefined; readonly problem?: string };

interface Loading {
  readonly engine: Pick<Engine, "load" | "read" | "notify">;
  readonly task: Pick<ClusterTask, "restore">;
  readonly clock: Clock;
}

/** How often, and after which pause each, a node asks the leader to store its state. */
const [STORE_TRIES, STORE_MS] = [5, 1_000];

/**
 * Loads what the leader stored, for a node that starts or that is behind, and restores the alerts.
 * If this node cannot use it, asks the leader to store its state. Another version's stays unusable.
 *
 * @param known A position from which this node could not continue. Default: it can read all.
 */
export async function loadUsableNode(
  { engine, task, clock }: Loading,
  signal: AbortSignal,
  known?: Position,
): Promise<StoredNode> {
  for (let tries = 1; ; tries++) {
    const found = await loadStoredNode(engine, task, signal);
    const at = found.stored?.position ?? LOG_START;
    const isUseless = known !== undefined && (found.stored === undefined || isSame(at, known));
    const problem = found.problem ?? (isUseless ? "the log lacks the entries after it" : undefined);
    if (problem === undefined) return found;
    if (tries > STORE_TRIES) return { problem };
    engine.notify({ kind: "store" });
    await clock.sleep(STORE_MS, signal);
  }
}

async function loadStoredNode(
  engine: Pick<Engine, "load" | "read">,
  task: Pick<ClusterTask, "restore">,
  signal: AbortSignal,
): Promise<StoredNode> {
  const stored = await engine.load(["log", "alerts"], signal);
  try {
    const snapshot = stored && (await readStoredLog(stored, engine, signal));
    if (!snapshot) return (await isWhole(engine, signal)) ? {} : { problem: "the log begins after it" };
    task.restore(await storedText(stored, "alerts"));
    return { stored, snapshot };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

/** Whether the engine's log has its first entry, or none. */
async function isWhole(engine: Pick<Engine, "load" | "read">, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    for await (const news of engine.read(1, signal)) return news.kind === "idle" || news.entry.offset === 1;
    // The connection was lost. Waits until there is another one.
    await engine.load([], signal);
  }
}

/**
 * Reads the log in a checkpoint. The checkpoint has the lasting events; all events up to the
 * checkpoint that the engine's log still has are added. Returns `undefined` if no log is stored, or
 * if the engine's log begins after the checkpoint. Throws if the stored log is malformed or of
 * another version.
 */
export async function readStoredLog(
  checkpoint: Checkpoint,
  engine: Pick<Engine, "load" | "read">,
  signal: AbortSignal,
): Promise<LogSnapshot | undefined> {
  if (!checkpoint.values.log) return undefined;
  const text = (await inflate(checkpoint.values.log)).toString();
  const end = text.indexOf("\n");
  const summary: Summary = JSON.parse(text.slice(0, end));
  if (summary.v !== VERSION)
    throw new Error(`the cluster's state is of version ${summary.v}; this node reads ${VERSION}`);
  const { seq, positions, observedAtMs, oldestLasting, lists, checkpoints } = summary;
  const runs = summary.runs.map(({ from, run }) => ({ from, run: run && toRun(run) }));
  const recent = await recordsUpTo(checkpoint, seq, engine, signal);
  if (!recent) return undefined;
  const oldest = (recent[0]?.seq ?? seq + 1) - 1;
  const lasting = readRecords(text.slice(end + 1)).filter((record) => record.seq <= oldest);
  const cursor = new Runs(runs).cursorAt(toEpoch(checkpoint.epoch), seq);
  return {
    records: [...lasting, ...recent],
    checkpoints: checkpoints.map((one) => ({ seq: one.seq, bytes: Buffer.from(one.lists, "base64") })),
    end: {
      cursor,
      positions,
      observedAtMs,
      lists: Buffer.from(lists, "base64"),
      runs,
      oldest,
      oldestLasting: Math.min(oldest, oldestLasting),
    },
  };
}

/**
 * Reads the events that the engine's log has up to the checkpoint, without a gap: none if the log
 * has another entry there. Returns `undefined` if the log begins after the checkpoint. Starts over
 * when the connection is lost: with fewer events, this node could not resume its clients.
 */
async function recordsUpTo(
  { position, epoch }: Checkpoint,
  seq: number,
  engine: Pick<Engine, "load" | "read">,
  signal: AbortSignal,
): Promise<readonly LogRecord[] | undefined> {
  for (;;) {
    let records: LogRecord[] = [];
    let isSame = false;
    let last: number | undefined;
    for await (const news of engine.read(1, signal)) {
      if (last === undefined && news.kind === "entry" && news.entry.offset > position.offset + 1)
        return undefined;
      if (news.kind === "idle" || news.entry.offset > position.offset)
        return isSame && records.at(-1)?.seq === seq ? records : [];
      const { offset, hash, header } = news.entry;
      // Entries may have been deleted.
      if (last !== undefined && offset !== last + 1) records = [];
      last = offset;
      const update = header.epoch === epoch ? decodeContent(news.entry)?.update : undefined;
      if (update?.type === "begin") records = [];
      if (update?.type === "batch") records.push(...update.records);
      isSame = offset === position.offset && hash === position.hash;
    }
    // Resolves when the engine answers again.
    await engine.load([], signal);
  }
}
