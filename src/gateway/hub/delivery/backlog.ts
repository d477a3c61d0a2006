import { type Cursor, type Lost, type Seq, toSeq } from "../../../base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../log/event-log.ts";

/** A part of the log after a cursor, or the reason that it is lost. */
export type BacklogPart =
  | {
      readonly kind: "records";
      readonly records: readonly LogRecord[];
      /** `records` contains every requested event up to here. */
      readonly through: Seq;
      /** From the cursor to `log.oldest`, the log has only lasting events (`LASTING_EVENTS`). */
      readonly sparse: boolean;
    }
  | { readonly kind: "lost"; readonly lost: Lost };

/**
 * Reads up to `limit` events. If `lasting` is set and the log has dropped other events after the
 * cursor, reads only lasting ones.
 */
export async function readBacklog(
  log: EventLog,
  after: Cursor,
  limit: number,
  lasting: boolean,
): Promise<BacklogPart> {
  const sparse = lasting && after.epoch === log.epoch && after.seq < log.oldest.seq;
  if (sparse) {
    const result = await log.readLasting(after, limit);
    return result.kind === "lost" ? result : { ...result, sparse };
  }
  const result = await log.read(after, limit);
  if (result.kind === "lost") return result;
  return { ...result, through: result.records.at(-1)?.seq ?? after.seq, sparse };
}

/**
 * Returns the position after this part, at most the head. The log may already have events that the
 * published head does not include.
 */
export function throughOf(
  { records, through }: { records: readonly LogRecord[]; through: Seq },
  head: Seq,
): Seq {
  const beyond = records.find(({ seq }) => seq > head);
  return beyond ? head : toSeq(Math.min(through, head));
}
