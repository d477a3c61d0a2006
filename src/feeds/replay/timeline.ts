import { DAY_MS, SECOND_MS, startOf } from "../../base/lib/time/time.ts";
import { type Clock, LATEST_AT_MS, type MarketEvent } from "../../base/market/index.ts";
import type { Skipped } from "./read/skips.ts";

/** Maximum lateness of an event behind the latest one; the same bound as the engine's. */
export const MAX_LATE_MS = 5_000;
/** Maximum unconfirmed step ahead: one wrong time must not make all following events late. */
export const MAX_GAP_MS = 31 * DAY_MS;
/**
 * A gap longer than `MAX_GAP_MS` gets clock events only this long, because no state lasts longer,
 * and for its last second.
 */
const TICKED_GAP_MS = 2 * DAY_MS;

/** Tracks event time: judges which events are in time, and inserts ticks between them. */
export class Timeline {
  readonly #hasOwnClocks: boolean;
  #first: number | undefined;
  #latest = 0;
  #latestFact = -1;
  #lastClock = -1;
  #nextTick = 0;
  #mayLeap = false;

  /**
   * @param hasOwnClocks The recording contains all clocks, so none are added or dropped and no
   * event is rejected.
   */
  constructor(hasOwnClocks = false) {
    this.#hasOwnClocks = hasOwnClocks;
  }

  /** Event time of the first event; `undefined` before it. */
  get first(): number | undefined {
    return this.#first;
  }

  /** Event time of the latest event or tick so far; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  /** Returns why an event at this time is rejected; `undefined` if it is in time. */
  judge(at: number): Skipped | undefined {
    // With recorded clocks, the engine rejects the same events as it did live.
    if (this.#first === undefined || this.#hasOwnClocks) return undefined;
    if (at < this.#latest - MAX_LATE_MS) {
      return {
        reason: "late",
        detail: `${iso(at)} is ${this.#latest - at} ms before the latest event (maximum ${MAX_LATE_MS})`,
      };
    }
    if (at > this.#latest + MAX_GAP_MS && !this.#mayLeap) {
      return {
        reason: "ahead",
        at,
        detail: `${iso(at)} is ${at - this.#latest} ms after the latest event (maximum ${MAX_GAP_MS})`,
      };
    }
    return undefined;
  }

  /** Allows the next event to be any distance ahead, because it ends a gap. */
  allowLeap(): void {
    this.#mayLeap = true;
  }

  /**
   * Yields the ticks before an event, then the event. Drops a recorded clock that is not after the
   * latest one. If the recording has its own clocks, yields only the event.
   */
  *place(event: MarketEvent): Generator<MarketEvent> {
    const { at } = event;
    if (this.#first === undefined) {
      this.#first = at;
      this.#nextTick = Math.ceil(at / SECOND_MS) * SECOND_MS;
    }
    if (this.#hasOwnClocks) {
      this.#latest = Math.max(this.#latest, at);
      yield event;
      return;
    }
    yield* this.#ticksUntil(at);
    if (event.kind !== "clock") {
      this.#latestFact = Math.max(this.#latestFact, at);
    } else {
      if (at <= this.#lastClock) return;
      this.#lastClock = at;
      this.#nextTick = startOf(SECOND_MS, at) + SECOND_MS;
    }
    this.#latest = Math.max(this.#latest, at);
    yield event;
  }

  /** Advances by `ms`, whole minutes, without ticks. */
  advance(ms: number): void {
    this.#latest += ms;
    this.#latestFact += ms;
    this.#lastClock += ms;
    this.#nextTick += ms;
  }

  /** Yields the tick that closes the last second, if it had events after the last clock. */
  *close(): Generator<Clock> {
    if (this.#hasOwnClocks) return;
    while (this.#lastClock < this.#latestFact && this.#nextTick <= LATEST_AT_MS) yield this.#tick();
  }

  *#ticksUntil(at: number): Generator<Clock> {
    this.#mayLeap = false;
    if (at > this.#nextTick + MAX_GAP_MS) {
      const leapAt = this.#nextTick + TICKED_GAP_MS;
      while (this.#nextTick < leapAt) yield this.#tick();
      this.#nextTick = Math.ceil(at / SECOND_MS) * SECOND_MS - SECOND_MS;
    }
    while (this.#nextTick < at) yield this.#tick();
  }

  #tick(): Clock {
    const at = this.#nextTick;
    this.#lastClock = at;
    this.#nextTick += SECOND_MS;
    this.#latest = Math.max(this.#latest, at);
    return { kind: "clock", at };
  }
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
