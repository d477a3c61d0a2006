import type { Clock } from "../../base/lib/time/clock.ts";

/**
 * Minimum time between two stored states, with few events. A restart replays about that much at
 * full speed.
 */
const STORE_EVERY_MS = 30_000;
/** Maximum share of time for storing large states. */
const USUAL_SHARE = 0.002;
/** The same after STORE_EVERY_RECORDS events or STORE_WITHIN_MS, which a restart has to replay. */
const MAX_SHARE = 0.02;
const STORE_EVERY_RECORDS = 5_000;
const STORE_WITHIN_MS = 120_000;

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

  /** Records that the state at a seq was stored, or could not be, with this much work. */
  stored(seq: number, tookMs: number): void {
    const endedAt = this.#clock.monotonic();
    this.#storedSeq = seq;
    this.#notBefore = endedAt + tookMs / MAX_SHARE;
    const usualMs = Math.max(STORE_EVERY_MS, Math.min(tookMs / USUAL_SHARE, STORE_WITHIN_MS));
    this.#nextAt = Math.max(this.#notBefore, endedAt + usualMs);
  }
}

/** Work between two pauses, in milliseconds. */
const TURN_MS = 5;
/** Pauses are this many times as long as the work before them, up to a maximum. */
const PAUSE_SHARE = 4;
const MAX_PAUSE_MS = 200;

/** Measures work that other work may interrupt, and pauses it. */
export class PacedWork {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  #since: number;
  #ms = 0;

  /** @param signal Ends pauses, and prevents further ones. */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#since = clock.monotonic();
  }

  /** The time worked, without pauses. */
  get ms(): number {
    return this.#ms + this.#clock.monotonic() - this.#since;
  }

  /** Pauses after enough work: for one turn or, if `isLong`, for a multiple of its duration. */
  async pauseIfDue(isLong: boolean): Promise<void> {
    const workedMs = this.#clock.monotonic() - this.#since;
    if (workedMs < TURN_MS) return;
    this.#ms += workedMs;
    const pauseMs = isLong ? Math.min(workedMs * PAUSE_SHARE, MAX_PAUSE_MS) : 0;
    await this.#clock.sleep(pauseMs, this.#signal).catch(() => {});
    this.#since = this.#clock.monotonic();
  }
}
