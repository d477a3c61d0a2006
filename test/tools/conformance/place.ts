import { isObject, type JsonObject, show } from "./json.ts";
import { Failure } from "./verdict.ts";

/**
 * An event has a `prev` after the client's position: either an event was omitted or `prev` is
 * wrong. Only the history can tell which.
 */
export class Gap extends Failure {
  readonly after: string;
  readonly seq: number;
  /** The line's channels and filter, as parameters for the history. */
  selection: Readonly<Record<string, string>> = {};
  /** Whether it is the first event after `resumed: "full"`. */
  readonly isFirst: boolean;

  constructor(gap: { after: string; held: number; prev: number; seq: number; isFirst: boolean }) {
    const { after, held, prev, seq } = gap;
    super(`prev of event ${seq} at most ${held}, the position of ${after}`, `prev ${prev}`);
    this.after = after;
    this.seq = seq;
    this.isFirst = gap.isFirst;
  }
}

/**
 * A client's position, and the check that nothing was omitted before the next message (W13 to W16).
 * A cursor is opaque. Its second part is used as position only if it equals `seq` in the cursors of
 * events.
 */
export class StreamPosition {
  cursor: string | undefined;
  #seq: number | undefined;
  #lastEvent = 0;
  #resumed = false;
  readonly #latest = new Map<string, number>();

  /** Sets the position from a message that is not an event. */
  moveTo(cursor: string): void {
    this.cursor = cursor;
    const seq = numberOf(cursor);
    this.#seq = seq === undefined ? undefined : Math.max(seq, this.#lastEvent);
  }

  /** Throws Failure if `cursor` is before the position. */
  checkNotBefore(cursor: string): void {
    const seq = numberOf(cursor);
    if (seq === undefined || this.#seq === undefined || seq >= this.#seq) return;
    throw new Failure(`a cursor at or after the position ${this.cursor}`, cursor, ["W14"]);
  }

  /** Resets the previous event, because the subscriptions have changed. */
  changed(resumed: boolean): void {
    this.#lastEvent = 0;
    this.#resumed = resumed;
  }

  /** Checks an event and moves the position. Throws Failure. */
  take(event: JsonObject): void {
    const [seq, prev, cursor] = [Number(event.seq), Number(event.prev), String(event.cursor)];
    const [held, after] = [this.#seq, this.cursor];
    const isFirst = this.#resumed;
    if (seq <= this.#lastEvent) {
      throw new Failure(`a seq greater than ${this.#lastEvent}, without repeats`, `event ${seq}`, ["W13"]);
    }
    if (prev >= seq) throw new Failure("prev before seq", `prev ${prev} of event ${seq}`, ["W15"]);
    if (prev < this.#lastEvent) {
      const expected = `prev at least ${this.#lastEvent}, because that event precedes ${seq}`;
      throw new Failure(expected, `prev ${prev}`, ["W15"]);
    }
    const isNumbered = numberOf(cursor) === seq;
    if (isNumbered && held !== undefined && seq <= held) {
      throw new Failure(`only events after the position ${after}`, `event ${seq}`, ["W14"]);
    }
    this.cursor = cursor;
    this.#seq = isNumbered ? seq : undefined;
    this.#lastEvent = seq;
    this.#resumed = false;
    this.#latest.set(String(event.channel), seq);
    if (isNumbered && held !== undefined && after !== undefined && prev > held) {
      throw new Gap({ after, held, prev, seq, isFirst });
    }
  }

  /**
   * Checks the positions of a heartbeat: one for each followed channel and, without a filter, that
   * of its latest event. Throws Failure.
   */
  compare(positions: unknown, channels: Iterable<string>, isUnfiltered: boolean): void {
    for (const channel of channels) {
      const position = isObject(positions) ? positions[channel] : undefined;
      if (typeof position !== "number") {
        throw new Failure(`a position of ${channel} in the heartbeat`, show(positions), ["W16"]);
      }
      const seen = this.#latest.get(channel);
      if (!isUnfiltered || seen === undefined) continue;
      if (position < seen) {
        throw new Failure(`a position of ${channel} of at least ${seen}`, `position ${position}`, ["W16"]);
      }
      if (position > seen) {
        throw new Failure(`event ${position} of ${channel}, the position in a heartbeat`, "no such event", [
          "W13",
        ]);
      }
    }
  }
}

function numberOf(cursor: string): number | undefined {
  const digits = /^[^-]+-(\d{1,15})(?:-[0-9a-z]+)?$/.exec(cursor)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
