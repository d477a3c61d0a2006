import type { CloseReason, RefusalReason } from "../../protocol/index.ts";
import type { Access } from "./access.ts";

/** The bound that leaves no seat, in words and as it is counted. */
export interface Full {
  readonly bound: string;
  readonly reason: RefusalReason;
}

/** Who takes a seat. */
export interface ConnectionHolder {
  /** What counts as one client: see clientOf. */
  readonly address: string;
  /** The key that it came with. */
  readonly key: Access["key"];
  /** Ends what the seat was taken for, and tells why. */
  end: (reason: CloseReason) => void;
}

/** Counts those who follow events, over whatever transport, in all, by address and by key, so that one client cannot take the places of all. */
export class ConnectionLimiter {
  readonly #most: number;
  readonly #mostPerAddress: number;
  readonly #byAddress = new Map<string, number>();
  readonly #byKey = new Map<string, Set<ConnectionHolder>>();
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
  take(guest: ConnectionHolder): Full | undefined {
    const { address, key } = guest;
    const own = this.#byAddress.get(address) ?? 0;
    const ofKey = key && this.#byKey.get(key.id);
    if (this.#taken >= this.#most) return { bound: `${this.#most} in all`, reason: "streams" };
    if (own >= this.#mostPerAddress)
      return { bound: `${this.#mostPerAddress} from one address`, reason: "streams-of-address" };
    if (key && (ofKey?.size ?? 0) >= key.connections)
      return { bound: `${key.connections} with one key`, reason: "streams-of-key" };
    this.#taken += 1;
    this.#byAddress.set(address, own + 1);
    if (key) this.#byKey.set(key.id, (ofKey ?? new Set()).add(guest));
    return undefined;
  }

  /** Gives back a seat that was taken. */
  leave(guest: ConnectionHolder): void {
    const { address, key } = guest;
    const own = (this.#byAddress.get(address) ?? 0) - 1;
    this.#taken -= 1;
    if (own > 0) this.#byAddress.set(address, own);
    else this.#byAddress.delete(address);
    const ofKey = key && this.#byKey.get(key.id);
    ofKey?.delete(guest);
    if (ofKey?.size === 0) this.#byKey.delete(key?.id ?? "");
  }

  /** Ends everything that a seat was taken for with this key. */
  endAll(keyId: string, reason: CloseReason): void {
    for (const guest of [...(this.#byKey.get(keyId) ?? [])]) guest.end(reason);
  }
}
