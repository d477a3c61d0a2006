import type { LogRecord } from "../log/event-log.ts";
import type { Epoch, Seq } from "../protocol/index.ts";
import type { FramedEvent } from "./framing.ts";
import type { Steps } from "./list-walk.ts";
import type { Shape } from "./shape.ts";

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

/**
 * The records that belong to the shape, framed and joined. `from.prev` goes with the first of them, `from.through` is returned
 * when there are no records. Stops behind the event with which `maxBytes` is reached (default: takes all), so that at least
 * one record is taken. `steps` is needed for shapes that are filtered, and is moved behind each record that is taken.
 */
export function frameEvents(
  records: readonly LogRecord[],
  shape: Shape,
  from: { readonly epoch: Epoch; readonly prev: Seq; readonly through: Seq },
  steps?: Steps,
  maxBytes = Number.POSITIVE_INFINITY,
): EventFrames {
  const framed: FramedEvent[] = [];
  let { prev, through } = from;
  let bytes = 0;
  let emittedAtMs = Number.NaN;
  let emittedAt = "";
  for (const record of records) {
    if (bytes >= maxBytes) break;
    through = record.seq;
    const event = shape.select(record, steps?.next(record));
    if (!event) continue;
    // The records of a batch have one time; its text is not worth making twice.
    if (record.emittedAtMs !== emittedAtMs) {
      emittedAtMs = record.emittedAtMs;
      emittedAt = new Date(emittedAtMs).toISOString();
    }
    const cursor = `${from.epoch}-${record.seq}`;
    const own = `{"type":"event","prev":${prev}`;
    const head = `,"cursor":"${cursor}","seq":${record.seq},"batch":${record.batch},"emitted_at":"${emittedAt}",`;
    const { name, tail } = event;
    framed.push({ cursor, name, own, head, tail, isCommon: tail === record.tail });
    bytes += own.length + head.length + tail.length;
    prev = record.seq;
  }
  const joined = framed.length > 0 ? shape.framing.events(framed) : undefined;
  return { bytes: joined, count: framed.length, prev, through };
}
