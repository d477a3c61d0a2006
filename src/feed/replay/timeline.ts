import { DAY_MS, SECOND_MS } from "../../lib/time/time.ts";
import type { Clock, MarketEvent } from "../../market/index.ts";
import type { Skipped } from "./read/skips.ts";

/** How far an event may lie before the latest one and still count; the same bound as the engine's. */
export const MAX_LATE_MS = 5_000;
/** How far an event may lie after the latest one, unless later lines confirm it. A single wrong time must not make all that follows late. */
export const MAX_GAP_MS = 31 * DAY_MS;
/** Of a longer gap, the ticks of this time are told: longer than anything is remembered for. Years of ticks would tell nothing more. */
const TICKED_GAP_MS = 2 * DAY_MS;

/** The latest time that an event can have: the end of the year 9999, as the market events' schema bounds it. */
export const LATEST_AT_MS = 253_402_300_799_999;

/** Event time as it passes: which events are in time, and where the ticks belong between them. */
export class Timeline {
  readonly #hasOwnClocks: boolean;
  #first: number | undefined;
  #latest = 0;
  #latestFact = -1;
  #lastClock = -1;
  #nextTick = 0;
  #mayLeap = false;

  /** `hasOwnClocks`: the passing of time is recorded too, and nothing is added to it. */
  constructor(hasOwnClocks = false) {
    this.#hasOwnClocks = hasOwnClocks;
  }

  /** Event time of the first event; `undefined` before it. */
  get first(): number | undefined {
    return this.#first;
  }

  /** Event time of the latest event so far; 0 before the first. */
  get latest(): number {
    return this.#latest;
  }

  /** What speaks against an event at this time, if anything does. */
  judge(at: number): Skipped | undefined {
    // Where time was recorded too, the engine has the same clocks to judge by as it had live.
    if (this.#first === undefined || this.#hasOwnClocks) return undefined;
    if (at < this.#latest - MAX_LATE_MS) {
      return {
        reason: "late",
        detail: `${iso(at)} lies ${this.#latest - at} ms before the latest event, most ${MAX_LATE_MS}`,
      };
    }
    if (at > this.#latest + MAX_GAP_MS && !this.#mayLeap) {
      return {
        reason: "ahead",
        at,
        detail: `${iso(at)} lies ${at - this.#latest} ms after the latest event, most ${MAX_GAP_MS}`,
      };
    }
    return undefined;
  }

  /** The next event may lie as far ahead as it does: it ends a gap. */
  allowLeap(): void {
    this.#mayLeap = true;
  }

  /** The ticks that lie before this event, then the event; a recorded clock that says nothing new is left out. */
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
      this.#nextTick = Math.floor(at / SECOND_MS) * SECOND_MS + SECOND_MS;
    }
    this.#latest = Math.max(this.#latest, at);
    yield event;
  }

  /** Lets `ms` pass, whole minutes, of which nothing is told. */
  advance(ms: number): void {
    this.#latest += ms;
    this.#latestFact += ms;
    this.#lastClock += ms;
    this.#nextTick += ms;
  }

  /** The tick that closes the last second, when something happened in it after the last clock. */
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
