import type { EventLog, LogRecord } from "../../log/event-log.ts";
import type { Cursor, Lost, Seq } from "../../protocol/index.ts";
import { readBacklog, throughOf } from "../delivery/backlog.ts";
import { FramePrefixes, frameEvents } from "../delivery/event-frames.ts";
import { type Framing, wholeText } from "../delivery/framing.ts";
import type { Head } from "../head.ts";
import type { ListHistory } from "../lists/list-history.ts";
import type { Steps } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";

/** Records read from the log at once. */
const READ_AT_ONCE = 512;
/** Records examined for one page: a selection of next to nothing must not search the whole log. */
const MAX_EXAMINED = 10_000;
/** The same with a filter that needs the lists around each event: some 30 µs each. */
const MAX_FILTERED = 1_000;
/** Filtered records between two pauses: about a quarter of a millisecond. */
const SLICE_RECORDS = 8;
/** Size of a page's events from which it ends, exceeded by less than an event. */
const PAGE_BYTES = 1_048_576;

/** Messages as the members of a JSON array. */
export const jsonFraming: Framing = {
  name: "json",
  transport: "poll",
  isDeflated: false,
  message: (json, snapshot) => Buffer.from(wholeText(json, snapshot)),
  events: (events) =>
    Buffer.concat(
      events.flatMap(({ own, head, tail }, at) => [
        Buffer.from(`${at === 0 ? "" : ","}${own}${head}`, "latin1"),
        tail,
      ]),
    ),
};

/** What pages are made from. */
export interface PageParts {
  readonly log: EventLog;
  readonly head: Head;
  /** The lists at the head and before, for those who filter. */
  readonly history: ListHistory;
}

/** Lets others have the event loop in the middle of a long work. */
export type Pause = () => Promise<void>;

/** Part of the log, or that it cannot be had. */
export type EventPage =
  | {
      readonly kind: "page";
      /** The messages of the events, joined by commas; empty when there are none. */
      readonly bytes: Buffer;
      readonly count: number;
      /** Every event of the shape up to here is in the page. */
      readonly cursor: Cursor;
      /** There are events behind `cursor`, perhaps none of the shape. */
      readonly more: boolean;
      /** Where the shape is filtered and events were looked at, the lists at `cursor`: for the page behind it. */
      readonly steps: Steps | undefined;
      /** JSON text of the lists at `cursor`, where they were asked for. */
      readonly snapshot?: string;
    }
  | { readonly kind: "lost"; readonly lost: Lost };

/**
 * The next events of a shape behind `from`, at most `limit` (1 or more) of them, out of what the head contains. `prev` goes with the first: the
 * client's own place, which lies before `from` where it is known already that nothing of the shape is in between. `steps` are those of the
 * page that ended at `from`, if there was one. Work is done in slices with a `pause` before each. The page ends early when `signal` aborts.
 */
export async function readPage(
  { log, head, history }: PageParts,
  ask: {
    readonly shape: StreamShape;
    readonly from: Cursor;
    readonly prev: Seq;
    readonly limit: number;
    readonly steps?: Steps | undefined;
    readonly pause: Pause;
    readonly signal: AbortSignal;
  },
): Promise<EventPage> {
  const { shape, from, prev, limit, pause, signal } = ask;
  const { epoch } = head.cursor;
  const strayed = log.strayed(from);
  if (strayed) return { kind: "lost", lost: strayed };
  if (from.seq > head.cursor.seq) return { kind: "lost", lost: { reason: "ahead", events: null } };
  const selected: LogRecord[] = [];
  let { steps } = ask;
  let at = from;
  let [bytes, examined] = [0, 0];
  const { filtered } = shape.selection;
  const most = filtered ? MAX_FILTERED : MAX_EXAMINED;
  const full = () => selected.length >= limit || bytes >= PAGE_BYTES || examined >= most || signal.aborted;
  // Looked up each time: the head moves, even to another history, while this pauses.
  const isAtHead = () => epoch === head.cursor.epoch && at.seq >= head.cursor.seq;
  const lasting = !filtered && shape.selection.lasting;
  while (!full() && !isAtHead()) {
    await pause();
    const result = await readBacklog(log, at, READ_AT_ONCE, lasting);
    if (result.kind === "lost") {
      // What was read before it fell off the log is whole; the next page will tell of the rest.
      if (at.seq > from.seq) break;
      return result;
    }
    // Before any pause: afterwards the log may be another history's.
    const reached = log.cursorAt(throughOf(result, head.cursor.seq));
    if (filtered && !steps) {
      const lists = await history.at(from, pause);
      if (!lists) return { kind: "lost", lost: { reason: "expired", events: log.head.seq - from.seq } };
      steps = history.walkFrom(lists);
    }
    for (const record of result.records) {
      if (filtered && examined % SLICE_RECORDS === 0) await pause();
      // The log may hold more already than the head's state contains; that comes with the next batch.
      if (full() || record.seq > head.cursor.seq) break;
      at = { epoch, seq: record.seq, run: record.run };
      examined += 1;
      const event = shape.select(record, steps?.next(record));
      if (!event) continue;
      selected.push({ ...record, name: event.name, tail: event.tail });
      bytes += event.tail.length;
    }
    if (at.seq >= (result.records.at(-1)?.seq ?? 0)) at = reached.seq > at.seq ? reached : at;
  }
  const chosen: StreamShape = { ...shape, select: (record) => record };
  const frames = frameEvents(selected, chosen, { heads: new FramePrefixes(epoch), prev, through: prev });
  return {
    kind: "page",
    bytes: frames.bytes ?? Buffer.alloc(0),
    count: selected.length,
    cursor: at,
    more: !isAtHead(),
    steps,
  };
}
