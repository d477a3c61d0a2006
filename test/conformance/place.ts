import { isObject, type JsonObject, show } from "./json.ts";
import { Failure } from "./verdict.ts";

/**
 * An event follows another one than the place: one was left out, or `prev` is wrong. Who has the
 * history can tell which.
 */
export class Hole extends Failure {
  readonly after: string;
  readonly seq: number;
  /** What the line follows, as parameters of an address: the history is asked for that. */
  selection: Readonly<Record<string, string>> = {};
  /** True where it is the first event after `resumed: "full"`. */
  readonly isFirst: boolean;

  constructor(hole: { after: string; held: number; prev: number; seq: number; isFirst: boolean }) {
    const { after, held, prev, seq } = hole;
    super(`prev of event ${seq} to be ${held} or less, the place of ${after}`, `prev ${prev}`);
    this.after = after;
    this.seq = seq;
    this.isFirst = hole.isFirst;
  }
}

/**
 * Where a client is, and the proof that nothing lies between that and what comes (W13 to W16). A
 * cursor is opaque, so the number of a place is known only where its text is as those of events
 * are: with their seq as second part.
 */
export class Slot {
  cursor: string | undefined;
  #seq: number | undefined;
  #lastEvent = 0;
  #resumed = false;
  readonly #latest = new Map<string, number>();

  /** A message that is no event has moved the place to `cursor`. */
  moveTo(cursor: string): void {
    this.cursor = cursor;
    const seq = numberOf(cursor);
    this.#seq = seq === undefined ? undefined : Math.max(seq, this.#lastEvent);
  }

  /** Throws Failure where `cursor` lies before the place. */
  mustNotLieBehind(cursor: string): void {
    const seq = numberOf(cursor);
    if (seq === undefined || this.#seq === undefined || seq >= this.#seq) return;
    throw new Failure(`a cursor at the place ${this.cursor} or behind it`, cursor, ["W14"]);
  }

  /** The subscriptions are others now: what counts as the event before is of those. */
  changed(resumed: boolean): void {
    this.#lastEvent = 0;
    this.#resumed = resumed;
  }

  /** Takes an event. Throws Failure. */
  take(event: JsonObject): void {
    const [seq, prev, cursor] = [Number(event.seq), Number(event.prev), String(event.cursor)];
    const [held, after] = [this.#seq, this.cursor];
    const isFirst = this.#resumed;
    if (seq <= this.#lastEvent) {
      throw new Failure(`a seq greater than ${this.#lastEvent}, each event once`, `event ${seq}`, ["W13"]);
    }
    if (prev >= seq) throw new Failure("prev before seq", `prev ${prev} of event ${seq}`, ["W15"]);
    if (prev < this.#lastEvent) {
      const expected = `prev ${this.#lastEvent} or more: that event lies before ${seq}`;
      throw new Failure(expected, `prev ${prev}`, ["W15"]);
    }
    const isNumbered = numberOf(cursor) === seq;
    if (isNumbered && held !== undefined && seq <= held) {
      throw new Failure(`only events behind the place ${after}`, `event ${seq}`, ["W14"]);
    }
    this.cursor = cursor;
    this.#seq = isNumbered ? seq : undefined;
    this.#lastEvent = seq;
    this.#resumed = false;
    this.#latest.set(String(event.channel), seq);
    if (isNumbered && held !== undefined && after !== undefined && prev > held) {
      throw new Hole({ after, held, prev, seq, isFirst });
    }
  }

  /**
   * Holds the positions of a heartbeat to the channels followed and, of a line without filter, to
   * what came. Throws Failure.
   */
  compare(positions: unknown, channels: Iterable<string>, isWhole: boolean): void {
    for (const channel of channels) {
      const position = isObject(positions) ? positions[channel] : undefined;
      if (typeof position !== "number") {
        throw new Failure(`a position of ${channel} in the heartbeat`, show(positions), ["W16"]);
      }
      const seen = this.#latest.get(channel);
      if (!isWhole || seen === undefined) continue;
      if (position < seen) {
        throw new Failure(`${channel} to be at ${seen} or beyond`, `position ${position}`, ["W16"]);
      }
      if (position > seen) {
        throw new Failure(`event ${position} of ${channel}, which a heartbeat names`, "no such event", [
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
