import type { EventLog, LogRecord } from "../../log/event-log.ts";
import { type Cursor, type Lost, type Seq, toSeq } from "../../protocol/index.ts";

/** Part of what lies behind a cursor, or that it cannot all be had. */
export type BacklogPart =
  | {
      readonly kind: "records";
      readonly records: readonly LogRecord[];
      /** Everything that was asked for up to here is in `records`. */
      readonly through: Seq;
      /** Only lasting events were kept here; what else there was nobody knows. */
      readonly sparse: boolean;
    }
  | { readonly kind: "lost"; readonly lost: Lost };

/** The next events behind `after`, at most `limit` (1 or more) of them. `lasting`: for whom the lasting ones will do where there are no others. */
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

/** How far a reader at `head` is once it has done with all that was read: the log may hold more already than the head's state contains. */
export function throughOf(
  { records, through }: { records: readonly LogRecord[]; through: Seq },
  head: Seq,
): Seq {
  const beyond = records.find(({ seq }) => seq > head);
  return beyond ? head : toSeq(Math.min(through, head));
}
