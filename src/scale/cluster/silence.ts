/** Silence of the leader after which another node tries to lead. */
const SILENCE_MS = 3_000;
/** Maximum random addition, so that nodes rarely try at the same moment. */
const JITTER_MS = 500;
/** Maximum random wait after a leader has left, used instead of `SILENCE_MS`. */
const DEPARTURE_MS = 100;
/**
 * Minimum silence while this node is in doubt. Either committed entries are missing, and another
 * node may repair them. Or the log no longer has the entries after this node's state, and the node
 * must load a stored state. Or the log contradicts what was delivered, and may be a former
 * primary's (branch.ts).
 */
const LOSS_MS = 10_000;
/**
 * Maximum age of the engine's last answer for a node that tries to lead. A shorter pause may be
 * caused by this machine, so it does not count as an outage of the engine.
 */
const ANSWER_MS = 1_000;

/**
 * Measures how long the log has had no new entry while the engine answered. An outage of the engine
 * does not count as silence of the leader.
 */
export class Silence {
  readonly #random: () => number;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #sinceMs: number | undefined;
  #limitMs: number;

  /**
   * @param random Returns [0, 1).
   * @param mayHaveLeader The node starts from a stored state, so the log may have a leader already.
   */
  constructor(random: () => number, mayHaveLeader = false) {
    this.#random = random;
    this.#limitMs = (mayHaveLeader ? SILENCE_MS : 0) + random() * JITTER_MS;
  }

  /** Records an answer of the engine. After an outage, the measurement starts again. */
  noteAnswer(nowMs: number): void {
    if (nowMs - this.#answeredAtMs > ANSWER_MS || this.#sinceMs === undefined) this.#sinceMs = nowMs;
    this.#answeredAtMs = nowMs;
  }

  /** Records a sign that a node leads. */
  noteLeader(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#limitMs = SILENCE_MS + this.#random() * JITTER_MS;
  }

  /** Records that the leader has left. */
  noteDeparture(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#limitMs = this.#random() * DEPARTURE_MS;
  }

  /** Whether it is time to try to lead. */
  isLongEnough(nowMs: number, isInDoubt: boolean): boolean {
    if (this.#sinceMs === undefined || nowMs - this.#answeredAtMs > ANSWER_MS) return false;
    return nowMs - this.#sinceMs >= (isInDoubt ? Math.max(LOSS_MS, this.#limitMs) : this.#limitMs);
  }
}
