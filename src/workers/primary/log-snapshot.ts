import { chunks } from "../../base/lib/chunks.ts";
import type { Lists } from "../../base/protocol/index.ts";
import type { Head, ListHistory } from "../../gateway/hub/index.ts";
import type { EventLog } from "../../gateway/log/index.ts";
import type { SnapshotEnd, SnapshotMessage } from "../messages.ts";

interface LogSnapshotParts {
  readonly log: Pick<EventLog, "read" | "readLasting" | "oldest" | "oldestLasting" | "runs">;
  readonly head: Pick<Head, "cursor" | "observedAtMs" | "ready">;
  readonly history: Pick<ListHistory, "lists" | "checkpoints">;
  /** The channels' positions at the head. */
  readonly positions: SnapshotEnd["positions"];
  readonly encode: (lists: Lists) => Uint8Array;
}

/** Approximate number of records per message. */
const RECORDS_PER_MESSAGE = 512;
/** More than any log holds. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * Returns the complete log and lists, so that clients of a new worker can resume from older
 * cursors.
 */
export function snapshotMessages(parts: LogSnapshotParts): AsyncGenerator<SnapshotMessage> {
  const { log, head, history, positions, encode } = parts;
  const { cursor, observedAtMs, ready } = head;
  const { lists, checkpoints } = history;
  const { oldest, oldestLasting, runs } = log;
  const reads = Promise.all([log.readLasting(oldestLasting, ALL), log.read(oldest, ALL)]);
  return (async function* () {
    const [lasting, rest] = await reads;
    // If the log dropped some of these events before they were read, the worker starts without
    // events.
    const isRead = lasting.kind === "records" && rest.kind === "records";
    const all = isRead ? [...lasting.records.filter(({ seq }) => seq <= oldest.seq), ...rest.records] : [];
    const records = all.filter(({ seq }) => seq <= cursor.seq);
    for (const some of chunks(records, RECORDS_PER_MESSAGE)) yield { type: "records", records: some };
    for (const checkpoint of checkpoints) {
      const known = readable(checkpoint.lists);
      if (known && checkpoint.seq >= oldest.seq)
        yield { type: "checkpoint", seq: checkpoint.seq, bytes: encode(known) };
    }
    const end = {
      cursor,
      positions,
      observedAtMs,
      runs,
      lists: ready ? encode(lists) : undefined,
      oldest: isRead ? oldest.seq : cursor.seq,
      oldestLasting: isRead ? oldestLasting.seq : cursor.seq,
    };
    yield { type: "snapshot-end", end };
  })();
}

/** Returns `undefined` if a list checkpoint, which an earlier process stored, is damaged. */
function readable(read: () => Lists): Lists | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
