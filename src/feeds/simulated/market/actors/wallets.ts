import { addressOfWords, hashText, mixBits, type Random } from "../random.ts";

/** Number of people who trade on one chain. */
const CROWD = 150_000;
/** Number of arbitrage programs on one chain. They have the first wallets. */
const ARBITRAGEURS = 24;
const CACHED = 8_192;

/**
 * One chain's traders, as numbers without state. The n-th is drawn with a probability proportional
 * to n^(−2/3), so a few trade everywhere all the time and most trade once.
 */
export class Wallets {
  readonly #lanes: readonly number[];
  readonly #cache: string[] = [];

  constructor(seed: string, chain: string) {
    this.#lanes = [0, 1, 2, 3, 4].map((lane) => hashText(`${seed}/wallets/${chain}`, lane));
  }

  draw(random: Random): number {
    const unit = random.unit();
    return ARBITRAGEURS + Math.floor(CROWD * unit * unit * unit);
  }

  arbitrageur(random: Random): number {
    return random.below(ARBITRAGEURS);
  }

  /** Returns the wallet's address: `0x` and 40 hexadecimal digits, stable for each number. */
  addressOf(wallet: number): string {
    const cached = this.#cache[wallet];
    if (cached !== undefined) return cached;
    const text = addressOfWords((index) => {
      const lane = this.#lanes[index] ?? 0;
      return mixBits(lane ^ mixBits(wallet + lane));
    });
    if (wallet < CACHED) this.#cache[wallet] = text;
    return text;
  }
}

const REMEMBERED = 256;

/** Remembers recent buyers of a token, from whom sellers and returning buyers are drawn. */
export class Holders {
  readonly #ring = new Int32Array(REMEMBERED);
  #bought = 0;

  add(wallet: number): void {
    this.#ring[this.#bought % REMEMBERED] = wallet;
    this.#bought += 1;
  }

  /** Draws a buyer: occasionally an earlier one, mostly one of the crowd. */
  buyer(wallets: Wallets, random: Random, returning: number): number {
    if (this.#bought > 16 && random.chance(returning)) {
      return this.#ring[random.below(Math.min(this.#bought, REMEMBERED))] ?? 0;
    }
    return wallets.draw(random);
  }

  /** Draws a seller: mostly one of the older three quarters of the remembered buyers. */
  seller(wallets: Wallets, random: Random): number {
    const count = Math.min(this.#bought, REMEMBERED);
    if (count < 16 || random.chance(0.2)) return wallets.draw(random);
    const age = count - 1 - random.below(Math.ceil(count * 0.75));
    return this.#ring[(this.#bought - 1 - age + REMEMBERED * 2) % REMEMBERED] ?? 0;
  }
}
