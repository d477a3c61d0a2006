import { type AccessPolicy, allowAll, KeyAccessPolicy, type SpentRate } from "../../http/index.ts";
import { type IssuedTicket, type Key, type KnownKeys, knownKeys } from "../../keys/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ToWorker } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

export interface RemoteKeysOptions {
  readonly link: PrimaryLink;
  readonly clock: Clock;
  readonly anonymous: "free" | "off";
  /** The valid keys; `undefined` if the server has no key file. */
  readonly keys: readonly Key[] | undefined;
  /** See {@link RemoteKeys.ends}. */
  readonly ends: number;
  /** Requests spent at other workers. */
  readonly spent: readonly SpentRate[];
}

/** How long counted requests are collected before the other workers hear of them. */
const GATHER_MS = 50;

/**
 * The keys of a worker. The primary watches the key file and owns the tickets.
 *
 * Each worker counts its own requests and later subtracts those of the others. Until their reports
 * arrive, a key may use its full rate at each worker. Over time it gets no more than its rate.
 */
export class RemoteKeys {
  readonly door: AccessPolicy;
  readonly #link: PrimaryLink;
  readonly #door: KeyAccessPolicy | undefined;
  readonly #stop: () => void;
  readonly #counted = new Map<string, number>();
  #known: KnownKeys;
  #ends: number;

  constructor({ link, clock, anonymous, keys, ends, spent }: RemoteKeysOptions) {
    this.#link = link;
    this.#ends = ends;
    this.#known = knownKeys(keys ?? []);
    if (keys) {
      this.#door = new KeyAccessPolicy({
        ring: { find: (text) => this.#known.find(text), get: (id) => this.#known.get(id) },
        ...{ clock, anonymous },
        tickets: {
          issue: async (keyId) => (await link.ask({ kind: "issue", keyId })) as IssuedTicket,
          keyOf: async (ticket) => (await link.ask({ kind: "holder", ticket })) as string | undefined,
          // The primary, which owns the tickets, has already dropped them.
          forget: () => {},
        },
        onCounted: (id) => this.#counted.set(id, (this.#counted.get(id) ?? 0) + 1),
      });
    }
    this.door = this.#door ?? allowAll;
    for (const { keyId, requests } of spent) this.countElsewhere(keyId, requests);
    this.#stop = keys ? clock.every(GATHER_MS, () => this.#tell()) : () => {};
  }

  /** Replaces the valid keys. */
  replace(keys: readonly Key[]): void {
    this.#known = knownKeys(keys);
  }

  /** Number of key ends received. */
  get ends(): number {
    return this.#ends;
  }

  /** Applies the end of a key, which was removed or downgraded. */
  end({ keyId, isGone, ends }: ToWorker & { readonly type: "ended" }): void {
    this.#ends = ends;
    if (isGone) this.#door?.forget(keyId);
  }

  /** Subtracts requests that the key made at other workers. */
  countElsewhere(keyId: string, requests: number): void {
    this.#door?.countElsewhere(keyId, requests);
  }

  stop(): void {
    this.#stop();
  }

  #tell(): void {
    for (const [keyId, requests] of this.#counted) this.#link.send({ type: "counted", keyId, requests });
    this.#counted.clear();
  }
}
