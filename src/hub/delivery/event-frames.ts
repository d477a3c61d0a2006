import type { LogRecord } from "../../log/event-log.ts";
import { type Epoch, formatCursor, type Seq } from "../../protocol/index.ts";
import type { Steps } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";
import type { FramedEvent } from "./framing.ts";

/** Events in the form of a shape, and where they lead. */
export interface EventFrames {
  /** `undefined` when none of the records belongs to the shape. */
  readonly bytes: Buffer | undefined;
  /** How many events are in `bytes`. */
  readonly count: number;
  /** Seq of the last event in `bytes`; without one, the `prev` that was given. */
  readonly prev: Seq;
  /** Seq of the last record that was looked at. */
  readonly through: Seq;
}

/** What lies in an event's message between its `prev`, which depends on who reads it, and the tail. */
interface EventHead {
  readonly cursor: string;
  readonly text: string;
}

/** The heads of events of one history, each made once for all who share this. */
export class FramePrefixes {
  readonly #epoch: Epoch;
  readonly #made = new Map<Seq, EventHead>();
  #emittedAtMs = Number.NaN;
  #emittedAt = "";

  constructor(epoch: Epoch) {
    this.#epoch = epoch;
  }

  of(record: LogRecord): EventHead {
    const made = this.#made.get(record.seq);
    if (made) return made;
    const { seq, batch, emittedAtMs, run } = record;
    // The records of a batch have one time; its text is not worth making twice.
    if (emittedAtMs !== this.#emittedAtMs) {
      this.#emittedAtMs = emittedAtMs;
      this.#emittedAt = new Date(emittedAtMs).toISOString();
    }
    const cursor = formatCursor({ epoch: this.#epoch, seq, run });
    const text = `,"cursor":"${cursor}","seq":${seq},"batch":${batch},"emitted_at":"${this.#emittedAt}",`;
    const head = { cursor, text };
    this.#made.set(seq, head);
    return head;
  }
}

/**
 * The records that belong to the shape, framed and joined. `from.prev` goes with the first of them, `from.through` is returned
 * when there are no records. Stops behind the event with which `maxBytes` is reached (default: takes all), so that at least
 * one record is taken. `steps` is needed for shapes that are filtered, and is moved behind each record that is taken.
 */
export function frameEvents(
  records: readonly LogRecord[],
  shape: StreamShape,
  from: { readonly heads: FramePrefixes; readonly prev: Seq; readonly through: Seq },
  steps?: Steps,
  maxBytes = Number.POSITIVE_INFINITY,
): EventFrames {
  const framed: FramedEvent[] = [];
  let { prev, through } = from;
  let bytes = 0;
  for (const record of records) {
    if (bytes >= maxBytes) break;
    through = record.seq;
    const event = shape.select(record, steps?.next(record));
    if (!event) continue;
    const own = `{"type":"event","prev":${prev}`;
    const { cursor, text: head } = from.heads.of(record);
    const { name, tail } = event;
    framed.push({ cursor, name, own, head, tail, isCommon: tail === record.tail });
    bytes += own.length + head.length + tail.length;
    prev = record.seq;
  }
  const joined = framed.length > 0 ? shape.framing.events(framed) : undefined;
  return { bytes: joined, count: framed.length, prev, through };
}
