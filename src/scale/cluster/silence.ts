import type { EntryHeader } from "./entry.ts";

/** Silence of the leader after which another node tries to lead. */
const SILENCE_MS = 3_000;
/** Maximum factor of `SILENCE_MS`, after terms without a batch. */
const MAX_PATIENCE = 8;
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
  /** Silence to wait for, without the patience. */
  #waitMs: number;
  #jitterMs: number;
  /**
   * Factor of the wait. Each term without a batch doubles it: its leader may have had too little
   * time to open its source. With a fixed wait, nodes that are short of CPU would never finish.
   */
  #patience = 1;
  #term: { readonly number: number; isFruitful: boolean } | undefined;

  /**
   * @param random Returns [0, 1).
   * @param mayHaveLeader The node starts from a stored state, so the log may have a leader already.
   */
  constructor(random: () => number, mayHaveLeader = false) {
    this.#random = random;
    this.#waitMs = mayHaveLeader ? SILENCE_MS : 0;
    this.#jitterMs = random() * JITTER_MS;
  }

  /** Records a committed entry. */
  noteEntry({ kind, term }: Pick<EntryHeader, "kind" | "term">): void {
    if (term !== this.#term?.number) {
      const isFruitful = this.#term?.isFruitful ?? true;
      this.#patience = isFruitful ? 1 : Math.min(MAX_PATIENCE, 2 * this.#patience);
      this.#term = { number: term, isFruitful: false };
    }
    // A leader that leaves was not too slow.
    if (kind === "batch" || kind === "handover") this.#term.isFruitful = true;
    if (kind === "batch") this.#patience = 1;
  }

  /** Records an answer of the engine. After an outage, the measurement starts again. */
  noteAnswer(nowMs: number): void {
    if (nowMs - this.#answeredAtMs > ANSWER_MS || this.#sinceMs === undefined) this.#sinceMs = nowMs;
    this.#answeredAtMs = nowMs;
  }

  /** Records a sign that a node leads. */
  noteLeader(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#waitMs = SILENCE_MS;
    this.#jitterMs = this.#random() * JITTER_MS;
  }

  /** Records that the leader has left. */
  noteDeparture(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#waitMs = 0;
    this.#jitterMs = this.#random() * DEPARTURE_MS;
  }

  /** Whether it is time to try to lead. */
  isLongEnough(nowMs: number, isInDoubt: boolean): boolean {
    if (this.#sinceMs === undefined || nowMs - this.#answeredAtMs > ANSWER_MS) return false;
    const limitMs = this.#waitMs * this.#patience + this.#jitterMs;
    return nowMs - this.#sinceMs >= (isInDoubt ? Math.max(LOSS_MS, limitMs) : limitMs);
  }
}
