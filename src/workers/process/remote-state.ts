import type { Clock } from "../../base/lib/time/clock.ts";
import type { SharedState, SpentRate } from "../../gateway/http/index.ts";
import type { IssuedTicket } from "../../gateway/keys/index.ts";
import type { ToWorker } from "../messages.ts";
import type { PrimaryLink } from "./primary-link.ts";

/** How often the requests counted here are sent to the other workers. */
const GATHER_MS = 50;
/**
 * How long to wait until the primary sends back a claim in the common order. After that, the claim
 * counts as lost. A cluster may lose one.
 */
const CLAIM_MS = 10_000;

type Link = Pick<PrimaryLink, "ask" | "send">;

/**
 * The state that workers share through the primary, or nodes through the cluster's servers. Each
 * worker counts its own requests and learns of the others' soon after. So a key may use its full
 * rate at each worker only for a moment.
 */
export class RemoteState implements SharedState {
  readonly tickets: SharedState["tickets"];
  readonly #link: Link;
  readonly #stop: () => void;
  readonly #counted = new Map<string, number>();
  readonly #clock: Clock;
  /** Own claims that the primary has not yet put in order, by client, oldest first. */
  readonly #claims = new Map<string, { readonly pending: number; readonly atMs: number }>();
  #onClaimed: (client: string) => void = () => {};
  #onCounted: (keyId: string, requests: number) => void = () => {};

  constructor(link: Link, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
    this.tickets = {
      issue: async (keyId) => (await link.ask({ kind: "issue", keyId })) as IssuedTicket,
      refOfTicket: async (ticket) => (await link.ask({ kind: "holder", ticket })) as string | undefined,
      spend: async (ticket) => (await link.ask({ kind: "spend", ticket })) as boolean,
      // The primary, which owns the tickets, has already dropped them.
      forget: () => {},
    };
    this.#stop = clock.every(GATHER_MS, () => this.#report());
  }

  claim(client: string): void {
    const { pending = 0 } = this.#claims.get(client) ?? {};
    this.#claims.delete(client);
    this.#claims.set(client, { pending: pending + 1, atMs: this.#clock.monotonic() });
    this.#link.send({ type: "claim", client });
  }

  onClaimed(listener: (client: string) => void): void {
    this.#onClaimed = listener;
  }

  /** Applies a claim in the primary's order: of a client's two connections, the later one stays. */
  claimed({ client, isOwn }: ToWorker & { readonly type: "claimed" }): void {
    const { pending = 0, atMs = 0 } = this.#claims.get(client) ?? {};
    // While an own claim is pending, the connection here is the later one.
    if (!isOwn && pending === 0) this.#onClaimed(client);
    if (isOwn && pending > 1) this.#claims.set(client, { pending: pending - 1, atMs });
    if (isOwn && pending <= 1) this.#claims.delete(client);
  }

  count(keyId: string): void {
    this.#counted.set(keyId, (this.#counted.get(keyId) ?? 0) + 1);
  }

  onCounted(listener: (keyId: string, requests: number) => void): void {
    this.#onCounted = listener;
  }

  /** Applies requests that a key made at other workers. */
  counted({ keyId, requests }: SpentRate): void {
    this.#onCounted(keyId, requests);
  }

  stop(): void {
    this.#stop();
  }

  #report(): void {
    for (const [keyId, requests] of this.#counted) this.#link.send({ type: "counted", keyId, requests });
    this.#counted.clear();
    const expiredMs = this.#clock.monotonic() - CLAIM_MS;
    for (const [client, { atMs }] of this.#claims) {
      if (atMs > expiredMs) break;
      this.#claims.delete(client);
    }
  }
}
