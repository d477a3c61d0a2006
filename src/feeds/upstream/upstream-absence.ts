import { BoundedMap } from "../../base/lib/bounded-map.ts";

/** Minimum number of responses without an item before the item ends. */
const ABSENT_ANSWERS = 3;
/**
 * Minimum absence before an item ends. With one response a second, its end is reported within 4 s.
 */
export const ABSENT_MS = 2_500;
/** Maximum absence that earlier returns can require. */
const MAX_PATIENCE_MS = 3_600_000;
/**
 * Earlier returns are forgotten after this time without another, or after four times the longest
 * absence if that is longer.
 */
const FORGET_AFTER_MS = 600_000;
/** Maximum expired items remembered to learn from their return. */
const MAX_REMEMBERED = 10_000;

interface KeysOfAnswer {
  /** The keys in the current state. */
  readonly before: Iterable<string>;
  /** The keys in the response. */
  readonly listed: ReadonlySet<string>;
  readonly nowMs: number;
  /** False if the list is a copy of an earlier response, and so says nothing new. */
  readonly isNew: boolean;
  /** Whether an absence is expected. Such an item expires at once. */
  readonly isExplained: (key: string) => boolean;
}

/**
 * Tracks how long responses have lacked items of one list, because an end cannot be undone. After
 * an item returns, all absences must last twice as long as the longest one that ended in a return,
 * at most an hour, until that one is forgotten.
 */
export class Absences {
  readonly #absent = new Map<string, { readonly sinceMs: number; answers: number }>();
  /** Start of the absence by key, for expired items. */
  readonly #expired = new BoundedMap<string, number>(MAX_REMEMBERED);
  #longestMs = 0;
  #returnedAtMs = 0;

  /** Records a response. Returns keys it lacks without explanation, in the order of `before`. */
  note({ before, listed, nowMs, isNew, isExplained }: KeysOfAnswer): readonly string[] {
    for (const [key, { sinceMs }] of this.#absent) if (listed.has(key)) this.#returned(key, sinceMs, nowMs);
    for (const [key, sinceMs] of this.#expired) if (listed.has(key)) this.#returned(key, sinceMs, nowMs);
    const missing = [...before].filter((key) => !listed.has(key) && !isExplained(key));
    const still = new Set(missing);
    for (const key of this.#absent.keys()) if (!still.has(key)) this.#absent.delete(key);
    for (const key of missing) {
      const absence = this.#absent.get(key);
      if (!absence) this.#absent.set(key, { sinceMs: nowMs, answers: 1 });
      else if (isNew) absence.answers += 1;
    }
    return missing;
  }

  /**
   * Returns the minimum length of an absence according to earlier returns; 0 without any. Forgets
   * old returns.
   */
  patienceMs(nowMs: number): number {
    const isForgotten = nowMs - this.#returnedAtMs > Math.max(FORGET_AFTER_MS, 4 * this.#longestMs);
    if (isForgotten) this.#longestMs = 0;
    return Math.min(MAX_PATIENCE_MS, 2 * this.#longestMs);
  }

  /**
   * Returns, after {@link expire}, whether an item is retained although it was absent for
   * {@link ABSENT_MS}.
   */
  isPatient(nowMs: number): boolean {
    return [...this.#absent.values()].some((absence) => isOver(absence, ABSENT_MS, nowMs));
  }

  /** Expires items that were absent for `minMs` and for {@link patienceMs}. Returns their keys. */
  expire(nowMs: number, minMs: number): ReadonlySet<string> {
    const requiredMs = Math.max(minMs, this.patienceMs(nowMs));
    const over = [...this.#absent].filter(([, absence]) => isOver(absence, requiredMs, nowMs));
    for (const [key, { sinceMs }] of over) {
      this.#absent.delete(key);
      this.#expired.set(key, sinceMs);
    }
    return new Set(over.map(([key]) => key));
  }

  #returned(key: string, sinceMs: number, nowMs: number): void {
    this.#absent.delete(key);
    this.#expired.delete(key);
    this.#longestMs = Math.max(this.patienceMs(nowMs) / 2, nowMs - sinceMs);
    this.#returnedAtMs = nowMs;
  }
}

function isOver(
  { sinceMs, answers }: { sinceMs: number; answers: number },
  requiredMs: number,
  nowMs: number,
) {
  return answers >= ABSENT_ANSWERS && nowMs - sinceMs >= requiredMs;
}
