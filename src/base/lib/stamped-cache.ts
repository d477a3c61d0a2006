import { BoundedMap } from "./bounded-map.ts";

/** Returns the version of what a value depends on; `undefined` if nothing may be cached now. */
export type Stamp = () => string | undefined;

interface Entry<V> {
  readonly value: V;
  /** What {@link now} returned before the value was made. */
  readonly stamp: string;
  readonly now: Stamp;
  readonly bytes: number;
}

/** Estimated memory of an entry besides its key and value. */
const ENTRY_BYTES = 500;

/** Caches values until their stamps change, in limited memory. Drops the least recently used. */
export class StampedCache<V> {
  readonly #entries: BoundedMap<string, Entry<V>>;
  readonly #reading = new Map<string, { readonly stamp: string | undefined; readonly value: Promise<V> }>();
  readonly #sizeOf: (value: V) => number;

  constructor(maxBytes: number, sizeOf: (value: V) => number) {
    this.#entries = new BoundedMap(maxBytes, ({ bytes }) => bytes);
    this.#sizeOf = sizeOf;
  }

  /** Estimated memory of the cached values, with their keys. */
  get bytes(): number {
    return this.#entries.total;
  }

  /** Returns the key's value if its stamp has not changed. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.now() !== entry.stamp) return undefined;
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Returns the key's last value, whatever its stamp. */
  last(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Caches a value that was made after `now` had returned `stamp`. */
  set(key: string, value: V, stamp: string | undefined, now: Stamp): void {
    this.drop(key);
    if (stamp === undefined) return;
    const bytes = ENTRY_BYTES + 2 * key.length + this.#sizeOf(value);
    this.#entries.set(key, { value, stamp, now, bytes });
  }

  drop(key: string): void {
    this.#entries.delete(key);
  }

  /**
   * Returns the key's cached value, or reads it. Calls share a read in progress while the stamp is
   * the same. Does not cache a failure.
   */
  read(key: string, now: Stamp, read: () => Promise<V>): Promise<V> {
    const known = this.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const stamp = now();
    const shared = this.#reading.get(key);
    if (shared && shared.stamp === stamp) return shared.value;
    const reading = { stamp, value: read() };
    this.#reading.set(key, reading);
    /**
     * Forgets this read, unless another read of the key has begun since. Returns whether it did.
     */
    const end = () => this.#reading.get(key) === reading && this.#reading.delete(key);
    reading.value.then((value) => {
      if (end()) this.set(key, value, stamp, now);
    }, end);
    return reading.value;
  }
}
