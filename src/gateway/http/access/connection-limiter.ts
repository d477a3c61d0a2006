import type { CloseReason, RefusalReason } from "../../../base/protocol/index.ts";
import type { Access } from "./access.ts";

/** The limit that was reached, in words and as its metric label. */
export interface ReachedLimit {
  readonly bound: string;
  readonly reason: RefusalReason;
}

/** A connection or a waiting poll that counts toward the limits. */
export interface ConnectionHolder {
  /** The address as it is counted: see clientOf. */
  readonly address: string;
  /** The key or token of the request. */
  readonly key: Access["key"];
  /** Closes the connection or ends the wait, with the reason. */
  end: (reason: CloseReason) => void;
}

/** Limits open streams and waiting polls in total, per address and per key. */
export class ConnectionLimiter {
  #max: number;
  readonly #maxPerAddress: number;
  readonly #byAddress = new Map<string, number>();
  readonly #byKey = new Map<string, Set<ConnectionHolder>>();
  #taken = 0;

  /** Either limit: Infinity for no limit, 0 to refuse everyone. */
  constructor(max: number, maxPerAddress: number) {
    this.#max = max;
    this.#maxPerAddress = maxPerAddress;
  }

  /** Lowers the total limit, for connections from now on. */
  lower(max: number): void {
    this.#max = Math.min(this.#max, max);
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Counts a holder, or returns the limit that it would exceed. Does not count `replaced` against
   * the limits; the caller releases it.
   */
  acquire(holder: ConnectionHolder, replaced?: ConnectionHolder): ReachedLimit | undefined {
    const { address, key } = holder;
    const own = this.#byAddress.get(address) ?? 0;
    const ofKey = key && this.#byKey.get(key.id);
    const taken = this.#taken - (replaced ? 1 : 0);
    const ownOthers = own - (replaced?.address === address ? 1 : 0);
    const keyOthers = (ofKey?.size ?? 0) - (replaced && ofKey?.has(replaced) ? 1 : 0);
    if (taken >= this.#max) return { bound: `${this.#max} in all`, reason: "streams" };
    if (ownOthers >= this.#maxPerAddress)
      return { bound: `${this.#maxPerAddress} from one address`, reason: "streams-of-address" };
    if (key?.connections !== undefined && keyOthers >= key.connections)
      return { bound: `${key.connections} with one key`, reason: "streams-of-key" };
    this.#taken += 1;
    this.#byAddress.set(address, own + 1);
    if (key) this.#byKey.set(key.id, (ofKey ?? new Set()).add(holder));
    return undefined;
  }

  release(holder: ConnectionHolder): void {
    const { address, key } = holder;
    const own = (this.#byAddress.get(address) ?? 0) - 1;
    this.#taken -= 1;
    if (own > 0) this.#byAddress.set(address, own);
    else this.#byAddress.delete(address);
    const ofKey = key && this.#byKey.get(key.id);
    ofKey?.delete(holder);
    if (key && ofKey?.size === 0) this.#byKey.delete(key.id);
  }

  /** Returns the limit of the client's key or address that allows fewer more, and its use. */
  useOf({ address, key }: Pick<ConnectionHolder, "address" | "key">) {
    const ofAddress = { limit: this.#maxPerAddress, used: this.#byAddress.get(address) ?? 0 };
    if (key?.connections === undefined) return ofAddress;
    const ofKey = { limit: key.connections, used: this.#byKey.get(key.id)?.size ?? 0 };
    return ofAddress.limit - ofAddress.used < ofKey.limit - ofKey.used ? ofAddress : ofKey;
  }

  /** Open connections and waiting polls of each key. */
  get ofKeys(): readonly (readonly [keyId: string, connections: number])[] {
    return [...this.#byKey].map(([id, { size }]) => [id, size]);
  }

  endAll(keyId: string, reason: CloseReason): void {
    for (const holder of [...(this.#byKey.get(keyId) ?? [])]) holder.end(reason);
  }

  /** Ends the holders whose key or token is no longer valid. */
  endInvalid(isValid: (key: NonNullable<Access["key"]>) => boolean): void {
    for (const holder of [...this.#byKey.values()].flatMap((holders) => [...holders]))
      if (holder.key && !isValid(holder.key)) holder.end("unauthorized");
  }
}
