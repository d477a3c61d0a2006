import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../../base/lib/parse-json.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import type { SharedState } from "../../../gateway/http/index.ts";
import { type IssuedTicket, mintSecret, TICKET_MS } from "../../../gateway/keys/index.ts";
import type { Engine } from "../engine.ts";

/** A claim or a count from one node. The server sends them to all nodes in the same order. */
const Shared = z.object({
  by: z.string(),
  message: z.discriminatedUnion("type", [
    z.object({ type: z.literal("claim"), client: z.string() }),
    z.object({ type: z.literal("counted"), keyId: z.string(), requests: z.number() }),
  ]),
});

type Servers = Pick<Engine, "notify" | "onNotice" | "put" | "get" | "take">;

/** How often the requests counted here are sent to the other nodes. */
const GATHER_MS = 50;
/**
 * How long to wait until the server sends back a claim in the common order. After that, the claim
 * counts as lost.
 */
const CLAIM_MS = 10_000;

/**
 * Shares tickets, claims and counts with the other nodes of a cluster. Tickets that a node issues
 * are valid on every node. Each node counts its own requests and learns of the others' soon after.
 * So a key may use its full rate at each node only for a moment.
 */
export class ClusterSharedState implements SharedState {
  readonly tickets: SharedState["tickets"];
  readonly #servers: Servers;
  readonly #clock: Clock;
  /** Distinguishes this node's messages from the other nodes'. */
  readonly #by = randomBytes(8).toString("base64url");
  readonly #stop: () => void;
  readonly #counted = new Map<string, number>();
  /** Own claims that the server has not yet put in order, by client, oldest first. */
  readonly #claims = new Map<string, { readonly pending: number; readonly atMs: number }>();
  #onClaimed: (client: string) => void = () => {};
  #onCounted: (keyId: string, requests: number) => void = () => {};

  constructor(servers: Servers, clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
    this.tickets = {
      issue: (keyId) => answered(issue(servers, clock, keyId)),
      refOfTicket: (ticket) => answered(servers.get(nameOf(ticket))),
      spend: async (ticket) => (await answered(servers.take(nameOf(ticket)))) !== undefined,
      // The server drops the tickets when they expire.
      forget: () => {},
    };
    servers.onNotice((notice) => {
      if (notice.kind === "shared") this.#receive(notice.text);
    });
    this.#stop = clock.every(GATHER_MS, () => this.#report());
  }

  claim(client: string): void {
    const { pending = 0 } = this.#claims.get(client) ?? {};
    this.#claims.delete(client);
    this.#claims.set(client, { pending: pending + 1, atMs: this.#clock.monotonic() });
    this.#send({ type: "claim", client });
  }

  onClaimed(listener: (client: string) => void): void {
    this.#onClaimed = listener;
  }

  count(keyId: string): void {
    this.#counted.set(keyId, (this.#counted.get(keyId) ?? 0) + 1);
  }

  onCounted(listener: (keyId: string, requests: number) => void): void {
    this.#onCounted = listener;
  }

  stop(): void {
    this.#stop();
  }

  #send(message: z.infer<typeof Shared>["message"]): void {
    this.#servers.notify({ kind: "shared", text: JSON.stringify({ by: this.#by, message }) });
  }

  #receive(text: string): void {
    // A message may be of another version, or of another program.
    const shared = Shared.safeParse(parseJson(text)).data;
    if (!shared) return;
    const { by, message } = shared;
    const isOwn = by === this.#by;
    if (message.type === "claim") this.#claimed(message.client, isOwn);
    else if (!isOwn) this.#onCounted(message.keyId, message.requests);
  }

  /** Applies a claim in the server's order: of a client's two connections, the later one stays. */
  #claimed(client: string, isOwn: boolean): void {
    const { pending = 0, atMs = 0 } = this.#claims.get(client) ?? {};
    // While an own claim is pending, the connection here is the later one.
    if (!isOwn && pending === 0) this.#onClaimed(client);
    if (isOwn && pending > 1) this.#claims.set(client, { pending: pending - 1, atMs });
    if (isOwn && pending <= 1) this.#claims.delete(client);
  }

  #report(): void {
    for (const [keyId, requests] of this.#counted) this.#send({ type: "counted", keyId, requests });
    this.#counted.clear();
    const expiredMs = this.#clock.monotonic() - CLAIM_MS;
    for (const [client, { atMs }] of this.#claims) {
      if (atMs > expiredMs) break;
      this.#claims.delete(client);
    }
  }
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    throw new FlarewireError("not-ready", "the cluster's servers do not answer; retry later", { cause });
  }
}

async function issue(servers: Servers, clock: Clock, keyId: string): Promise<IssuedTicket> {
  const { text } = mintSecret("fwt");
  await servers.put(nameOf(text), keyId, TICKET_MS);
  return { text, expiresAtMs: clock.now() + TICKET_MS };
}

/** Hashes a ticket, so that the server never sees a usable one. */
function nameOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
