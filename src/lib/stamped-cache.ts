/** Returns what a cached value depends on; `undefined`: nothing may be cached now. */
export type Stamp = () => string | undefined;

interface Entry<V> {
  readonly value: V;
  /** What {@link now} returned before the value was made. */
  readonly stamp: string;
  readonly now: Stamp;
  readonly bytes: number;
}

/** What an entry takes besides its value. */
const ENTRY_BYTES = 500;

/** Caches values until their stamps change, within a bound of bytes: the least used go first. */
export class StampedCache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #reading = new Map<string, { readonly stamp: string | undefined; readonly value: Promise<V> }>();
  readonly #maxBytes: number;
  readonly #sizeOf: (value: V) => number;
  #bytes = 0;

  constructor(maxBytes: number, sizeOf: (value: V) => number) {
    this.#maxBytes = maxBytes;
    this.#sizeOf = sizeOf;
  }

  /** Estimated memory of the cached values, with their keys. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the key's value if its stamp has not changed. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.now() !== entry.stamp) return undefined;
    // To the end, because the first is dropped next.
    this.#entries.delete(key);
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
    this.#bytes += bytes;
    for (const first of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.drop(first);
    }
  }

  drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  /** Returns the key's value, read unless it is cached. Requests during a read share it. */
  read(key: string, now: Stamp, read: () => Promise<V>): Promise<V> {
    const known = this.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const stamp = now();
    const shared = this.#reading.get(key);
    if (shared && shared.stamp === stamp) return shared.value;
    const reading = { stamp, value: read() };
    this.#reading.set(key, reading);
    /** Returns whether no other read of the key has begun since. */
    const end = () => this.#reading.get(key) === reading && this.#reading.delete(key);
    reading.value.then((value) => {
      if (end()) this.set(key, value, stamp, now);
    }, end);
    return reading.value;
  }
}
