import { BoundedMap } from "../../base/lib/bounded-map.ts";

/** Remembers the newest `max` keys. */
export class RecentKeys<K> {
  readonly #keys: BoundedMap<K, true>;

  constructor(max: number) {
    this.#keys = new BoundedMap(max);
  }

  /** Returns whether the key was noted before, and remembers it. */
  isRepeat(key: K): boolean {
    if (this.#keys.has(key)) return true;
    this.#keys.set(key, true);
    return false;
  }
}
