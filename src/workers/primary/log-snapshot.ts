import type { Head, ListHistory } from "../../hub/index.ts";
import type { EventLog } from "../../log/index.ts";
import type { Lists } from "../../protocol/index.ts";
import type { FillEnd, FillMessage } from "../messages.ts";

/** What a worker's log is filled from. */
export interface FillParts {
  readonly log: Pick<EventLog, "read" | "readLasting" | "oldest" | "oldestLasting" | "runs">;
  readonly head: Pick<Head, "cursor" | "observedAtMs" | "ready">;
  readonly history: Pick<ListHistory, "lists" | "places">;
  /** Of the head. */
  readonly positions: FillEnd["positions"];
  /** Lists as bytes. */
  readonly format: (lists: Lists) => Uint8Array;
}

/** Records of a message, about. */
const RECORDS_AT_ONCE = 512;
/** More than any log holds. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * Everything that the log holds and that is known of its lists, up to the head at the moment of the call: what comes behind it is to be sent after this. So who
 * comes to a worker that has just begun with a cursor from before resumes as on any other.
 */
export function fillMessages({
  log,
  head,
  history,
  positions,
  format,
}: FillParts): AsyncGenerator<FillMessage> {
  const { cursor, observedAtMs, ready } = head;
  const { lists } = history;
  const places = history.places;
  const { oldest, oldestLasting, runs } = log;
  const held = Promise.all([log.readLasting(oldestLasting, ALL), log.read(oldest, ALL)]);
  return (async function* () {
    const [lasting, rest] = await held;
    // What is lost to the primary itself is so to its workers.
    const isWhole = lasting.kind === "records" && rest.kind === "records";
    const kept = isWhole ? [...lasting.records.filter(({ seq }) => seq <= oldest.seq), ...rest.records] : [];
    const records = kept.filter(({ seq }) => seq <= cursor.seq);
    for (let at = 0; at < records.length; at += RECORDS_AT_ONCE)
      yield { type: "records", records: records.slice(at, at + RECORDS_AT_ONCE) };
    for (const place of places) {
      const known = readable(place.lists);
      if (known && place.seq >= oldest.seq) yield { type: "place", seq: place.seq, bytes: format(known) };
    }
    const from = isWhole ? { oldest: oldest.seq, oldestLasting: oldestLasting.seq } : undefined;
    const end = {
      ...{ cursor, positions, observedAtMs, runs },
      lists: ready ? format(lists) : undefined,
      ...(from ?? { oldest: cursor.seq, oldestLasting: cursor.seq }),
    };
    yield { type: "filled", end };
  })();
}

/** One that was kept by a process before may be broken; then there is no way from it. */
function readable(read: () => Lists): Lists | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
