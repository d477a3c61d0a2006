/** Maximum keys that are counted individually. */
const MAX_KEYS = 100;
const OTHERS = "other";

/** Counts requests of each of the first hundred keys, and of all other keys together. */
export class KeyCounts {
  readonly admitted: Record<string, number> = Object.create(null);
  readonly limited: Record<string, number> = Object.create(null);
  readonly #named = new Set<string>();

  /** Counts a request or connection within the key's rate. */
  admit(id: string): void {
    count(this.admitted, this.labelOf(id));
  }

  /** Counts a request that the key's rate refuses. */
  limit(id: string): void {
    count(this.limited, this.labelOf(id));
  }

  labelOf(id: string): string {
    if (this.#named.size < MAX_KEYS) this.#named.add(id);
    return this.#named.has(id) ? id : OTHERS;
  }
}

function count(counts: Record<string, number>, label: string): void {
  counts[label] = (counts[label] ?? 0) + 1;
}
