import type { Cursor, Lost, Seq } from "../../../base/protocol/index.ts";
import type { EventLog, LogRecord } from "../../log/event-log.ts";
import { readBacklog, throughOf } from "../delivery/backlog.ts";
import { EventHeadCache, frameEvents } from "../delivery/event-frames.ts";
import { beforeLists, type Framing } from "../delivery/framing.ts";
import type { Head } from "../head.ts";
import type { ListHistory } from "../lists/list-history.ts";
import type { Steps } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";

/** Records read from the log at once. */
const READ_RECORDS = 512;
/** Records examined per page, so that a rare selection does not scan the entire log. */
const MAX_EXAMINED = 10_000;
/**
 * The same for filters that need the lists before and after each event, at about 30 µs per record.
 */
const MAX_FILTERED = 1_000;
/** Filtered records between two pauses: about a quarter of a millisecond. */
const SLICE_RECORDS = 8;
/** Event bytes after which a page ends; the last event may exceed it. */
const PAGE_BYTES = 1_048_576;

/** Formats messages as members of a JSON array. */
export const jsonFraming: Framing = {
  name: "json",
  transport: "poll",
  isDeflated: false,
  message: (json) => Buffer.from(json),
  withLists: (json, end) => [Buffer.from(beforeLists(json)), end],
  events: (events) =>
    Buffer.concat(
      events.flatMap(({ own, head, encoded }, index) => [
        Buffer.from(`${index === 0 ? "" : ","}${own}${head}`, "latin1"),
        encoded,
      ]),
    ),
};

export interface PageContext {
  readonly log: EventLog;
  readonly head: Head;
  /** The lists at the head and at earlier cursors. */
  readonly history: ListHistory;
}

type Pause = () => Promise<void>;

export interface PageRequest {
  readonly shape: StreamShape;
  readonly from: Cursor;
  readonly prev: Seq;
  readonly limit: number;
  readonly steps?: Steps | undefined;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

/** A part of the log, or the reason that it is lost. */
export type EventPage =
  | {
      readonly kind: "page";
      /** The event messages, joined by commas; empty if there are none. */
      readonly bytes: Buffer;
      readonly count: number;
      /** Every event of the shape after `from` and up to here is in the page. */
      readonly cursor: Cursor;
      /** Whether there are events after `cursor`, of any shape. */
      readonly more: boolean;
      /** For a filtered shape, the lists at `cursor`, to pass to the next page. */
      readonly steps: Steps | undefined;
      /** JSON text of the lists at `cursor`, if requested. */
      readonly snapshot?: Buffer | undefined;
    }
  | { readonly kind: "lost"; readonly lost: Lost };

/**
 * Reads up to `limit` (at least 1) events of a shape after `from`, in slices with a `pause` before
 * each; ends early when `signal` aborts. `prev`: the client's own position, which may be before
 * `from`. `steps`: those of the page that ended at `from`; default: computed.
 */
export async function readPage(
  { log, head, history }: PageContext,
  request: PageRequest,
): Promise<EventPage> {
  const { shape, from, prev, limit, pause, signal } = request;
  const { epoch } = head.cursor;
  const strayed = log.strayed(from);
  if (strayed) return { kind: "lost", lost: strayed };
  if (from.seq > head.cursor.seq) return { kind: "lost", lost: { reason: "ahead", events: null } };
  const selected: LogRecord[] = [];
  let { steps } = request;
  let position = from;
  let [size, examined] = [0, 0];
  const { filtered } = shape.selection;
  const maxExamined = filtered ? MAX_FILTERED : MAX_EXAMINED;
  const isFull = () =>
    selected.length >= limit || size >= PAGE_BYTES || examined >= maxExamined || signal.aborted;
  // Look it up each time: during a pause the head may move, even to another history.
  const isAtHead = () => epoch === head.cursor.epoch && position.seq >= head.cursor.seq;
  const lasting = !filtered && shape.selection.lasting;
  while (!isFull() && !isAtHead()) {
    await pause();
    const result = await readBacklog(log, position, READ_RECORDS, lasting);
    if (result.kind === "lost") {
      // What was read before this is complete. The next page reports the loss.
      if (position.seq > from.seq) break;
      return result;
    }
    // Compute it before any pause: afterwards the log may hold another history.
    const reached = log.cursorAt(throughOf(result, head.cursor.seq));
    if (filtered && !steps) {
      const lists = await history.at(from, pause);
      if (!lists) return { kind: "lost", lost: { reason: "expired", events: log.head.seq - from.seq } };
      steps = history.walkFrom(lists);
    }
    for (const record of result.records) {
      if (filtered && examined % SLICE_RECORDS === 0) await pause();
      // The log may be ahead of the head's state. Those events come with the next batch.
      if (isFull() || record.seq > head.cursor.seq) break;
      position = { epoch, seq: record.seq, run: record.run };
      examined += 1;
      const event = shape.select(record, steps?.next(record));
      if (!event) continue;
      selected.push({ ...record, name: event.name, encoded: event.encoded });
      size += event.encoded.length;
    }
    const isExamined = position.seq >= (result.records.at(-1)?.seq ?? 0);
    if (isExamined && reached.seq > position.seq) position = reached;
  }
  const more = !isAtHead();
  // Framing a full page takes a turn's time, too.
  if (size > 0) await pause();
  const chosen: StreamShape = { ...shape, select: (record) => record };
  const start = { heads: new EventHeadCache(epoch), prev, through: prev };
  const { bytes = Buffer.alloc(0), count } = frameEvents(selected, chosen, start);
  return { kind: "page", bytes, count, cursor: position, more, steps };
}
