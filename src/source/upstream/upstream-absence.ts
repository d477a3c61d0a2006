/** An item counts as gone only when this many answers in a row lacked it, and {@link ABSENT_MS} have passed. */
const ABSENT_ANSWERS = 3;
/** Time that passes at least between the first answer that lacks an item and its end. With one poll a second, an end is reported within 4 s. */
export const ABSENT_MS = 2_500;
/** Longest absence that is waited for, however long items have stayed away before they returned. */
const MAX_PATIENCE_MS = 3_600_000;
/** What returns have taught is forgotten after this time without a return, or after four of the longest absences. */
const FORGET_AFTER_MS = 600_000;
/** Items remembered after they were let go, to learn from their return; beyond that the oldest is forgotten. */
const MAX_REMEMBERED = 10_000;

/** One answer of an upstream, as far as the keys of one list go. */
export interface KeysOfAnswer {
  /** Keys that were believed before, and keys that the answer lists. */
  readonly before: Iterable<string>;
  readonly listed: ReadonlySet<string>;
  /** Monotonic. */
  readonly nowMs: number;
  /** False where the list is a copy of an earlier answer: it says nothing new about what is absent. */
  readonly isNew: boolean;
  /** True for a key whose absence is to be expected: it is let go at once. */
  readonly isExplained: (key: string) => boolean;
}

/**
 * Counts for how long the answers of an upstream have lacked the items of one list. An absence can be a fault of one answer, and an end
 * cannot be taken back. It learns: where an item returns, later absences must last twice as long before they count.
 */
export class Absences {
  readonly #absent = new Map<string, { readonly sinceMs: number; answers: number }>();
  /** By key, since when an item was absent that was let go. */
  readonly #gone = new Map<string, number>();
  #longestMs = 0;
  #returnedAtMs = 0;

  /** Takes note of an answer; returns the keys that it lacks without an explanation, in the order of `before`. */
  note({ before, listed, nowMs, isNew, isExplained }: KeysOfAnswer): readonly string[] {
    for (const [key, { sinceMs }] of this.#absent) if (listed.has(key)) this.#returned(key, sinceMs, nowMs);
    for (const [key, sinceMs] of this.#gone) if (listed.has(key)) this.#returned(key, sinceMs, nowMs);
    const lacking = [...before].filter((key) => !listed.has(key) && !isExplained(key));
    const still = new Set(lacking);
    for (const key of this.#absent.keys()) if (!still.has(key)) this.#absent.delete(key);
    for (const key of lacking) {
      const absence = this.#absent.get(key);
      if (!absence) this.#absent.set(key, { sinceMs: nowMs, answers: 1 });
      else if (isNew) absence.answers += 1;
    }
    return lacking;
  }

  /** How long an absence must last at least, by what returns have taught; 0 where they have taught nothing. */
  patienceMs(nowMs: number): number {
    const isForgotten = nowMs - this.#returnedAtMs > Math.max(FORGET_AFTER_MS, 4 * this.#longestMs);
    if (isForgotten) this.#longestMs = 0;
    return Math.min(MAX_PATIENCE_MS, 2 * this.#longestMs);
  }

  /** True where an item has been absent for longer than would do if returns had taught nothing. */
  isPatient(nowMs: number): boolean {
    return [...this.#absent.values()].some((absence) => isOver(absence, ABSENT_MS, nowMs));
  }

  /** Lets go of what has been absent for `leastMs`, and for as long as returns have taught; returns its keys. */
  closeGradually(nowMs: number, leastMs: number): ReadonlySet<string> {
    const needMs = Math.max(leastMs, this.patienceMs(nowMs));
    const over = [...this.#absent].filter(([, absence]) => isOver(absence, needMs, nowMs));
    for (const [key, { sinceMs }] of over) {
      this.#absent.delete(key);
      this.#gone.delete(key);
      this.#gone.set(key, sinceMs);
    }
    for (const key of this.#gone.keys()) {
      if (this.#gone.size <= MAX_REMEMBERED) break;
      this.#gone.delete(key);
    }
    return new Set(over.map(([key]) => key));
  }

  #returned(key: string, sinceMs: number, nowMs: number): void {
    this.#absent.delete(key);
    this.#gone.delete(key);
    this.#longestMs = Math.max(this.patienceMs(nowMs) / 2, nowMs - sinceMs);
    this.#returnedAtMs = nowMs;
  }
}

function isOver({ sinceMs, answers }: { sinceMs: number; answers: number }, needMs: number, nowMs: number) {
  return answers >= ABSENT_ANSWERS && nowMs - sinceMs >= needMs;
}
