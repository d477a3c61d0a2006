import type { LogRecord } from "./event-log.ts";

/** A stored event, with the monotonic time of its append. */
export type RetainedEvent = { readonly record: LogRecord; readonly appendedAtMs: number };

/** Measured overhead of an event: 375 bytes in V8's heap, and the memory around a Buffer. */
const RECORD_BYTES = 512;

export function bytesOf({ encoded }: LogRecord): number {
  return encoded.length + RECORD_BYTES;
}

/** The lasting events that are still stored from before the log's `oldest`, oldest first. */
export class RetainedEvents {
  /** Entries before `#first` are unused; they are removed now and then. */
  #events: (RetainedEvent | undefined)[] = [];
  #first = 0;
  #bytes = 0;
  #droppedTo: number;

  /** @param droppedTo Lasting events up to this seq are not stored. */
  constructor(droppedTo: number) {
    this.#droppedTo = droppedTo;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Every lasting event after this seq is stored. */
  get droppedTo(): number {
    return this.#droppedTo;
  }

  push(event: RetainedEvent): void {
    this.#events.push(event);
    this.#bytes += bytesOf(event.record);
  }

  /** Drops the oldest event; false if there is none. */
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

  /** Drops the events appended before this time. */
  dropBefore(appendedAtMs: number): void {
    while ((this.#events[this.#first]?.appendedAtMs ?? Number.POSITIVE_INFINITY) < appendedAtMs) this.drop();
  }

  /** Returns the first `limit` events after `seq`. */
  after(seq: number, limit: number): readonly LogRecord[] {
    let [low, high] = [this.#first, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.record.seq ?? 0) > seq) high = middle;
      else low = middle + 1;
    }
    return this.#events.slice(low, low + limit).flatMap((event) => (event ? [event.record] : []));
  }

  clear(): void {
    this.#events = [];
    this.#first = 0;
    this.#bytes = 0;
  }
}
