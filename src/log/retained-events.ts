import type { LogRecord } from "./event-log.ts";

/** An event that is held, and when it was appended by the monotonic clock. */
export type HeldEvent = { readonly record: LogRecord; readonly appendedAt: number };

/** What a held event takes beside its text: 375 bytes of objects in V8's heap, as measured, and what lies outside of it around a Buffer's memory. */
const RECORD_BYTES = 512;

/** Bytes that a held event takes. */
export function bytesOf({ tail }: LogRecord): number {
  return tail.length + RECORD_BYTES;
}

/** The lasting events of the time from which the others are not held any more, oldest first. */
export class RetainedEvents {
  /** From `#first` on; what lies before it is let go of now and then. */
  #events: (HeldEvent | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #droppedTo: number;

  /** `droppedTo`: lasting events up to this seq are not held. */
  constructor(droppedTo: number) {
    this.#droppedTo = droppedTo;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Every lasting event behind this seq is held. */
  get droppedTo(): number {
    return this.#droppedTo;
  }

  /** Takes the next one: its seq is above all others. */
  push(event: HeldEvent): void {
    this.#events.push(event);
    this.#bytes += bytesOf(event.record);
  }

  /** Drops the oldest; false when there is none. */
  drop(): boolean {
    const event = this.#events[this.#first];
    if (!event) return false;
    this.#events[this.#first] = undefined;
    this.#first += 1;
    this.#bytes -= bytesOf(event.record);
    this.#droppedTo = event.record.seq;
    if (this.#first > 1_024 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
    return true;
  }

  /** Drops those that were appended before this moment. */
  dropBefore(appendedAt: number): void {
    while ((this.#events[this.#first]?.appendedAt ?? Number.POSITIVE_INFINITY) < appendedAt) this.drop();
  }

  /** The first `limit` of those behind `seq`. */
  after(seq: number, limit: number): readonly LogRecord[] {
    let [low, high] = [this.#first, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.record.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return this.#events.slice(low, low + limit).flatMap((event) => (event ? [event.record] : []));
  }

  /** Lets go of everything. */
  clear(): void {
    this.#events = [];
    this.#first = 0;
    this.#bytes = 0;
  }
}
