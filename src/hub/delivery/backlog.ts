import type { EventLog, LogRecord } from "../../log/event-log.ts";
import { type Cursor, type Lost, type Seq, toSeq } from "../../protocol/index.ts";

/** A part of the log after a cursor, or the reason that it is lost. */
export type BacklogPart =
  | {
      readonly kind: "records";
      readonly records: readonly LogRecord[];
      /** `records` contains every requested event up to here. */
      readonly through: Seq;
      /** Only lasting events (`LASTING_EVENTS`) are still stored here; the others are unknown. */
      readonly sparse: boolean;
    }
  | { readonly kind: "lost"; readonly lost: Lost };

/** Reads up to `limit` events; with `lasting`, only lasting ones where the log lost the others. */
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

/** Returns how far a reader gets with this part. The log may be ahead of the head's state. */
export function throughOf(
  { records, through }: { records: readonly LogRecord[]; through: Seq },
  head: Seq,
): Seq {
  const beyond = records.find(({ seq }) => seq > head);
  return beyond ? head : toSeq(Math.min(through, head));
}
