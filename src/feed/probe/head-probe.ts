import { z } from "zod";
import { Hex, messagesOf, parseMessage, RpcFailure } from "./rpc.ts";

const Message = z.union([
  z.object({ params: z.object({ result: z.object({ number: Hex }) }) }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

/** Waits for the endpoint's first pushed block. Rejects with RpcFailure or after a timeout. */
export async function listenForHead(url: string, signal: AbortSignal): Promise<string> {
  const question = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] });
  for await (const text of messagesOf(url, question, signal)) {
    const read = Message.safeParse(parseMessage(text));
    if (!read.success) throw new RpcFailure("pushed something other than new blocks");
    if ("error" in read.data) throw new RpcFailure(`does not push new blocks: ${read.data.error.message}`);
    if ("params" in read.data) return `pushed block ${read.data.params.result.number}`;
  }
  throw new RpcFailure("pushed no new block");
}
