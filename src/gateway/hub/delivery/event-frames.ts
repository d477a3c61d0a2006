import { type Epoch, formatCursor, type Seq } from "../../../base/protocol/index.ts";
import type { LogRecord } from "../../log/event-log.ts";
import type { Steps } from "../lists/list-walk.ts";
import type { StreamShape } from "../session/stream-shape.ts";
import type { FramedEvent } from "./framing.ts";

/** Framed events of a shape, and the position after them. */
export interface EventFrames {
  /** `undefined` if no record belongs to the shape. */
  readonly bytes: Buffer | undefined;
  readonly count: number;
  /** Seq of the last event in `bytes`; without one, the `prev` passed in. */
  readonly prev: Seq;
  /** Seq of the last record examined; without one, the `through` passed in. */
  readonly through: Seq;
}

/** The part of an event message after `prev`, which depends on the reader, and before the body. */
interface EventHead {
  readonly cursor: string;
  readonly text: string;
}

/** Caches the shared heads of one epoch's event messages. */
export class EventHeadCache {
  readonly #epoch: Epoch;
  readonly #cache = new Map<Seq, EventHead>();
  #emittedAtMs = Number.NaN;
  #emittedAt = "";

  constructor(epoch: Epoch) {
    this.#epoch = epoch;
  }

  of(record: LogRecord): EventHead {
    const cached = this.#cache.get(record.seq);
    if (cached) return cached;
    const { seq, batch, emittedAtMs, run } = record;
    // All records of a batch have the same time, so format it once.
    if (emittedAtMs !== this.#emittedAtMs) {
      this.#emittedAtMs = emittedAtMs;
      this.#emittedAt = new Date(emittedAtMs).toISOString();
    }
    const cursor = formatCursor({ epoch: this.#epoch, seq, run });
    const text = `,"cursor":"${cursor}","seq":${seq},"batch":${batch},"emitted_at":"${this.#emittedAt}",`;
    const head = { cursor, text };
    this.#cache.set(seq, head);
    return head;
  }
}

/**
 * Frames and joins the shape's records, up to the event that reaches `maxBytes` (default:
 * unlimited). A filtered shape needs `steps`, which advance past each record examined. The first
 * event is sent with `from.prev`.
 */
export function frameEvents(
  records: readonly LogRecord[],
  shape: StreamShape,
  from: { readonly heads: EventHeadCache; readonly prev: Seq; readonly through: Seq },
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
    const { name, encoded } = event;
    framed.push({ cursor, name, own, head, encoded, isCommon: encoded === record.encoded });
    bytes += own.length + head.length + encoded.length;
    prev = record.seq;
  }
  const joined = framed.length > 0 ? shape.framing.events(framed) : undefined;
  return { bytes: joined, count: framed.length, prev, through };
}
