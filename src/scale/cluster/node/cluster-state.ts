import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { parseJson } from "../../../base/lib/parse-json.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { type IssuedTicket, mintSecret, TICKET_MS } from "../../../gateway/keys/index.ts";
import { RemoteState } from "../../../workers/index.ts";
import type { Question, ToPrimary } from "../../../workers/messages.ts";
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

/**
 * Shares tickets, claims and counts with the other nodes of a cluster, as workers do through their
 * primary. Tickets that a node issues are valid on every node.
 */
export function createClusterState(engine: Servers, clock: Clock): RemoteState {
  const by = randomBytes(8).toString("base64url");
  const send = (message: ToPrimary) =>
    engine.notify({ kind: "shared", text: JSON.stringify({ by, message }) });
  const state = new RemoteState({ send, ask: (question) => answer(engine, clock, question) }, clock);
  engine.onNotice((notice) => {
    if (notice.kind !== "shared") return;
    // A message may be of another version, or of another program.
    const shared = Shared.safeParse(parseJson(notice.text)).data;
    if (!shared) return;
    const { message } = shared;
    const isOwn = shared.by === by;
    if (message.type === "claim") state.claimed({ type: "claimed", client: message.client, isOwn });
    else if (!isOwn) state.counted(message);
  });
  return state;
}

async function answer(engine: Servers, clock: Clock, question: Question): Promise<unknown> {
  try {
    if (question.kind === "issue") return await issue(engine, clock, question.keyId);
    if (question.kind === "holder") return await engine.get(nameOf(question.ticket));
    if (question.kind === "spend") return (await engine.take(nameOf(question.ticket))) !== undefined;
  } catch (cause) {
    throw new FlarewireError("not-ready", "the cluster's servers do not answer; retry later", { cause });
  }
  throw new Error(`unexpected question in a cluster: ${question.kind}`);
}

async function issue(engine: Servers, clock: Clock, keyId: string): Promise<IssuedTicket> {
  const { text } = mintSecret("fwt");
  await engine.put(nameOf(text), keyId, TICKET_MS);
  return { text, expiresAtMs: clock.now() + TICKET_MS };
}

/** Hashes a ticket, so that the server never sees a usable one. */
function nameOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
