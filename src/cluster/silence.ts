/** Silence of the leader after which another node tries to lead. */
const SILENCE_MS = 3_000;
/** Random addition, so that nodes rarely try at the same moment. */
const JITTER_MS = 500;
/** Random time after a leader's departure, instead. */
const DEPARTURE_MS = 100;
/**
 * Silence while this node is in doubt: the log lacks an entry that was committed, which another
 * node may repair, or it may be a former primary's.
 */
const LOSS_MS = 10_000;
/**
 * Age of the engine's last answer up to which a node may try to lead. A reader that the machine
 * holds up for a moment has not lost the engine.
 */
const ANSWER_MS = 1_000;

/**
 * Measures how long the log has had no new entry while the engine answered. The engine's own outage
 * is no silence of the leader.
 */
export class Silence {
  readonly #random: () => number;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #sinceMs: number | undefined;
  #limitMs: number;

  /**
   * @param random Returns [0, 1).
   * @param mayBeLed Whether the node starts from a log that others wrote.
   */
  constructor(random: () => number, mayBeLed = false) {
    this.#random = random;
    this.#limitMs = (mayBeLed ? SILENCE_MS : 0) + random() * JITTER_MS;
  }

  /** The engine answered. */
  noteAnswer(nowMs: number): void {
    if (nowMs - this.#answeredAtMs > ANSWER_MS || this.#sinceMs === undefined) this.#sinceMs = nowMs;
    this.#answeredAtMs = nowMs;
  }

  /** Somebody leads. */
  noteLeader(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#limitMs = SILENCE_MS + this.#random() * JITTER_MS;
  }

  /** The leader has left. */
  noteDeparture(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#limitMs = this.#random() * DEPARTURE_MS;
  }

  /** Whether it is time to try to lead. */
  isOver(nowMs: number, isInDoubt: boolean): boolean {
    if (this.#sinceMs === undefined || nowMs - this.#answeredAtMs > ANSWER_MS) return false;
    return nowMs - this.#sinceMs >= (isInDoubt ? Math.max(LOSS_MS, this.#limitMs) : this.#limitMs);
  }
}
