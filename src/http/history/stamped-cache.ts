import { BoundedMap } from "../../lib/bounded-map.ts";

interface Stamped<V> {
  readonly stamp: string;
  readonly value: Promise<V>;
}

/** Caches values until their stamp changes. Requests during a read share it. */
export class StampedCache<V> {
  readonly #known: BoundedMap<string, Stamped<V>>;

  constructor(max: number) {
    this.#known = new BoundedMap(max);
  }

  /** Returns the key's value. `read` gets the one of the stamp before, if that is cached. */
  get(key: string, stamp: string, read: (before: Promise<V> | undefined) => Promise<V>): Promise<V> {
    const known = this.#known.get(key);
    if (known?.stamp === stamp) return known.value;
    const value = read(known?.value);
    this.#known.set(key, { stamp, value });
    // A failure is not cached.
    value.catch(() => {
      if (this.#known.get(key)?.value === value) this.#known.delete(key);
    });
    return value;
  }

  drop(key: string): void {
    this.#known.delete(key);
  }
}
