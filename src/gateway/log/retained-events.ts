import type { LogRecord } from "./event-log.ts";

/** A stored event. */
export interface RetainedEvent {
  readonly record: LogRecord;
  /** Monotonic time of its append. */
  readonly appendedAtMs: number;
  /** When it or an earlier event was emitted, whichever is later: the clock may be set back. */
  readonly latestMs: number;
}

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
    const isAfter = (at: number) => (this.#events[at]?.record.seq ?? 0) > seq;
    const low = firstWhere(this.#first, this.#events.length, isAfter);
    return this.#events.slice(low, low + limit).flatMap((event) => (event ? [event.record] : []));
  }

  /** Returns the last event emitted up to this time; `undefined` if that may be dropped. */
  lastUpTo(atMs: number): RetainedEvent | undefined {
    const isLater = (at: number) => (this.#events[at]?.latestMs ?? 0) > atMs;
    return this.#events[firstWhere(this.#first, this.#events.length, isLater) - 1];
  }

  clear(): void {
    this.#events = [];
    this.#first = 0;
    this.#bytes = 0;
  }
}

/** Returns the first number from `low` on for which `test` is true; `high` if there is none. */
export function firstWhere(low: number, high: number, test: (at: number) => boolean): number {
  if (low >= high) return low;
  const middle = Math.floor((low + high) / 2);
  return test(middle) ? firstWhere(low, middle, test) : firstWhere(middle + 1, high, test);
}
