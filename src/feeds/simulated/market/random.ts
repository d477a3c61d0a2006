const TWO_TO_32 = 4_294_967_296;
/** Rounds discarded after seeding, so that similar seeds do not start alike. */
const WARM_UP_ROUNDS = 16;

/**
 * Mixes a 32-bit word: splitmix32's finalizer (Steele, Lea, Flood, OOPSLA 2014; Ettinger's
 * variant).
 */
export function mixBits(word: number): number {
  let mixed = word | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return mixed ^ (mixed >>> 15);
}

/** Returns a 32-bit hash of a text (mixed FNV-1a over UTF-16), independent for each `lane`. */
export function hashText(text: string, lane = 0): number {
  let hash = 0x811c9dc5 ^ mixBits(lane + 0x9e3779b9);
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mixBits(hash);
}

/**
 * Random numbers by name: equal names give equal numbers, different names independent ones. sfc32
 * of PractRand: 128 bits of state, 96 of them from the name; cycles of at least 2^32.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spareNormal = Number.NaN;

  constructor(name: string) {
    this.#a = hashText(name, 1);
    this.#b = hashText(name, 2);
    this.#c = hashText(name, 3);
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) this.word();
  }

  /** Returns a uniform 32-bit integer, with a sign. */
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }

  /** Returns a uniform number in the open interval (0, 1): never 0, so its logarithm is finite. */
  unit(): number {
    return ((this.word() >>> 0) + 0.5) / TWO_TO_32;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.unit();
  }

  /** Returns a uniform integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.unit() * count);
  }

  /** Returns a log-uniform number in (low, high), both above 0. */
  logBetween(low: number, high: number): number {
    return low * Math.exp(Math.log(high / low) * this.unit());
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** Returns one of the items with probability proportional to its weight. */
  weighted<Item>(items: readonly (readonly [item: Item, weight: number])[]): Item {
    let total = 0;
    for (const [, weight] of items) total += weight;
    let rest = this.unit() * total;
    for (const [item, weight] of items) {
      rest -= weight;
      if (rest < 0) return item;
    }
    return this.pick(items)[0];
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("cannot pick from an empty list");
    return item;
  }

  /** Returns an exponentially distributed waiting time with the given mean. */
  waiting(mean: number): number {
    return -Math.log(this.unit()) * mean;
  }

  /** Returns a standard normal number, by Marsaglia's polar method (SIAM Review 6, 1964). */
  normal(): number {
    const spare = this.#spareNormal;
    if (!Number.isNaN(spare)) {
      this.#spareNormal = Number.NaN;
      return spare;
    }
    for (;;) {
      const x = 2 * this.unit() - 1;
      const y = 2 * this.unit() - 1;
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spareNormal = y * scale;
      return x * scale;
    }
  }

  /** Returns a log-normal number; `spread` is the standard deviation of the logarithm. */
  logNormal(median: number, spread: number): number {
    return median * Math.exp(spread * this.normal());
  }

  /**
   * Returns a Poisson count: Knuth's product below a mean of 30, from there on a rounded normal.
   */
  poisson(mean: number): number {
    if (mean >= 30) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.unit(); product > limit; product *= this.unit()) count += 1;
    return count;
  }

  address(): string {
    return addressOfWords(() => this.word());
  }
}

const scratch = Buffer.alloc(20);

/**
 * Returns `0x` and 40 hex digits. Uses a buffer, because joining strings took a third of all time.
 */
export function addressOfWords(wordOf: (lane: number) => number): string {
  for (let lane = 0; lane < 5; lane += 1) scratch.writeInt32BE(wordOf(lane) | 0, lane * 4);
  return `0x${scratch.toString("hex")}`;
}
