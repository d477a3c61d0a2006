import type { Clock } from "../../base/lib/time/clock.ts";

/**
 * Minimum time between two stored states, with few events. A restart replays about that much at
 * full speed.
 */
const STORE_EVERY_MS = 30_000;
/** Maximum share of time for storing large states, because nothing else runs meanwhile. */
const USUAL_SHARE = 0.002;
/** The same from STORE_EVERY_RECORDS events on, because a restart has to apply them. */
const MAX_SHARE = 0.02;
/** After this many events without a stored state, MAX_SHARE applies. */
const STORE_EVERY_RECORDS = 5_000;

/** Decides when the state at the head is stored again. */
export class CheckpointSchedule {
  readonly #clock: Clock;
  #nextAt: number;
  #notBefore = 0;
  #storedSeq: number | undefined;

  /** @param storedSeq Seq of the state that an earlier process stored. Default: there is none. */
  constructor(clock: Clock, storedSeq?: number) {
    this.#clock = clock;
    this.#storedSeq = storedSeq;
    this.#nextAt = clock.monotonic() + STORE_EVERY_MS;
  }

  /** Makes the next state due. */
  reset(): void {
    this.#storedSeq = undefined;
  }

  isDue(seq: number): boolean {
    if (this.#storedSeq === undefined) return true;
    const isMuch = seq - this.#storedSeq >= STORE_EVERY_RECORDS;
    return this.#clock.monotonic() >= (isMuch ? this.#notBefore : this.#nextAt);
  }

  /** Records that the state at a seq was stored, with work that began at `startedAt`. */
  stored(seq: number, startedAt: number): void {
    const endedAt = this.#clock.monotonic();
    const tookMs = endedAt - startedAt;
    this.#storedSeq = seq;
    this.#notBefore = endedAt + tookMs / MAX_SHARE;
    this.#nextAt = endedAt + Math.max(STORE_EVERY_MS, tookMs / USUAL_SHARE);
  }
}
