/** A map of limited size. Setting a key makes it the newest. Drops the oldest beyond `max`. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;
  readonly #sizeOf: (value: V, key: K) => number;
  #total = 0;

  /** `sizeOf`: what an entry counts against `max`, constant while it is stored. Default: 1. */
  constructor(max: number, sizeOf: (value: V, key: K) => number = () => 1) {
    super();
    this.#max = max;
    this.#sizeOf = sizeOf;
  }

  /** Sum of the entries' sizes. */
  get total(): number {
    return this.#total;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    this.#total += this.#sizeOf(value, key);
    if (this.#total <= this.#max) return this;
    for (const oldest of this.keys()) {
      this.delete(oldest);
      if (this.#total <= this.#max) break;
    }
    return this;
  }

  override delete(key: K): boolean {
    if (this.has(key)) this.#total -= this.#sizeOf(this.get(key) as V, key);
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#total = 0;
  }

  /** Returns the key's value, which `make` creates if there is none. */
  ensure(key: K, make: () => V): V {
    const known = this.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.set(key, made);
    return made;
  }
}
