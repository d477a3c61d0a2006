import { type AccessPolicy, allowAll, KeyAccessPolicy, type SpentRate } from "../../http/index.ts";
import { type IssuedTicket, type Key, type KnownKeys, knownKeys } from "../../keys/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { ToWorker } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

/** What a worker's keys are made of. */
export interface RemoteKeysOptions {
  readonly link: PrimaryLink;
  readonly clock: Clock;
  readonly anonymous: "free" | "off";
  /** Those that count now; `undefined` where the server knows none. */
  readonly keys: readonly Key[] | undefined;
  /** See {@link RemoteKeys.ends}. */
  readonly ends: number;
  /** What they have used up at other workers. */
  readonly spent: readonly SpentRate[];
}

/** How long requests that were counted here are gathered before the others are told of them. */
const GATHER_MS = 50;

/**
 * The keys as a worker knows them: the primary follows the file and says what counts, and has the tickets. The requests of a key are counted here, and what
 * the others counted comes off afterwards, all of it: so within the time that the word takes a key can have its requests once of each worker, and over the time has
 * no more than its rate.
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
          // The primary, which has them, has forgotten them already.
          forget: () => {},
        },
        onCounted: (id) => this.#counted.set(id, (this.#counted.get(id) ?? 0) + 1),
      });
    }
    this.door = this.#door ?? allowAll;
    for (const { keyId, requests } of spent) this.countElsewhere(keyId, requests);
    this.#stop = keys ? clock.every(GATHER_MS, () => this.#tell()) : () => {};
  }

  /** These count from now on. */
  replace(keys: readonly Key[]): void {
    this.#known = knownKeys(keys);
  }

  /** How many ends of keys were heard of. */
  get ends(): number {
    return this.#ends;
  }

  /** A key does not count any more, or for less. */
  end({ keyId, isGone, ends }: ToWorker & { readonly type: "ended" }): void {
    this.#ends = ends;
    if (isGone) this.#door?.forget(keyId);
  }

  /** The key made so many requests at other workers. */
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
