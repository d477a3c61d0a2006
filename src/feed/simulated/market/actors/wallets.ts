import { addressOfWords, hashText, mixBits, type Random } from "../random.ts";

/** People and programs that trade on one chain. */
const CROWD = 150_000;
const ARBITRAGEURS = 24;
const CACHED = 8_192;

/**
 * The traders of one chain, as numbers that stand for addresses; nothing is kept per trader. The n-th is drawn with a probability
 * that falls as n^(−2/3): a few trade everywhere all the time, most are seen once.
 */
export class Wallets {
  readonly #lanes: readonly number[];
  readonly #cache: string[] = [];

  constructor(seed: string, chain: string) {
    this.#lanes = [0, 1, 2, 3, 4].map((lane) => hashText(`${seed}/wallets/${chain}`, lane));
  }

  /** Someone of the crowd. */
  draw(random: Random): number {
    const unit = random.unit();
    return ARBITRAGEURS + Math.floor(CROWD * unit * unit * unit);
  }

  /** One of the few programs that live on differences of price. */
  arbitrageur(random: Random): number {
    return random.below(ARBITRAGEURS);
  }

  /** The address that stands in the trade: `0x` and 40 hexadecimal digits, always the same for the same number. */
  addressOf(wallet: number): string {
    const known = this.#cache[wallet];
    if (known !== undefined) return known;
    const text = addressOfWords((index) => {
      const lane = this.#lanes[index] ?? 0;
      return mixBits(lane ^ mixBits(wallet + lane));
    });
    if (wallet < CACHED) this.#cache[wallet] = text;
    return text;
  }
}

const REMEMBERED = 256;

/** Who bought a token lately: sellers are found among them, the earlier the likelier, and some come back for more. */
export class Holders {
  readonly #ring = new Int32Array(REMEMBERED);
  #bought = 0;

  add(wallet: number): void {
    this.#ring[this.#bought % REMEMBERED] = wallet;
    this.#bought += 1;
  }

  /** Someone who buys: now and then one who bought before, mostly someone of the crowd. */
  buyer(wallets: Wallets, random: Random, returning: number): number {
    if (this.#bought > 16 && random.chance(returning)) {
      return this.#ring[random.below(Math.min(this.#bought, REMEMBERED))] ?? 0;
    }
    return wallets.draw(random);
  }

  /** Someone who sells: a remembered buyer of the older three quarters, or one from before the memory. */
  seller(wallets: Wallets, random: Random): number {
    const known = Math.min(this.#bought, REMEMBERED);
    if (known < 16 || random.chance(0.2)) return wallets.draw(random);
    const age = known - 1 - random.below(Math.ceil(known * 0.75));
    return this.#ring[(this.#bought - 1 - age + REMEMBERED * 2) % REMEMBERED] ?? 0;
  }
}
