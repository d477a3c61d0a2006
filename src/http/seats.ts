/** Counts those who follow events, over whatever transport, in all and by address, so that one client cannot take the places of all. */
export class Seats {
  readonly #most: number;
  readonly #mostPerAddress: number;
  readonly #byAddress = new Map<string, number>();
  #taken = 0;

  /** Infinity for no bound, 0 to take nobody. */
  constructor(most: number, mostPerAddress: number) {
    this.#most = most;
    this.#mostPerAddress = mostPerAddress;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a seat; the bound that stands in the way where there is none. */
  take(address: string): string | undefined {
    const own = this.#byAddress.get(address) ?? 0;
    if (this.#taken >= this.#most) return `${this.#most} in all`;
    if (own >= this.#mostPerAddress) return `${this.#mostPerAddress} from one address`;
    this.#taken += 1;
    this.#byAddress.set(address, own + 1);
    return undefined;
  }

  /** Gives back a seat that was taken. */
  leave(address: string): void {
    const own = (this.#byAddress.get(address) ?? 0) - 1;
    this.#taken -= 1;
    if (own > 0) this.#byAddress.set(address, own);
    else this.#byAddress.delete(address);
  }
}
