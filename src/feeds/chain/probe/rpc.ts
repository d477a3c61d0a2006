import { on } from "node:events";
import { WebSocket } from "ws";
import { z } from "zod";
import { parseJson } from "../../../base/lib/parse-json.ts";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { withDeadline } from "../../../base/lib/time/deadline.ts";

export const Hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,13}$/)
  .transform(Number);

/** Why an endpoint is unusable, as the second half of a sentence, without its address. */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
}

/** Timeout of a request, and of opening a WebSocket. */
const MAX_MS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

const Reply = z.union([
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ result: z.unknown() }),
]);

interface RpcTarget {
  readonly url: string;
  readonly clock: Clock;
  /**
   * Receives the decompressed response text and its `content-encoding`; `null` if uncompressed or
   * over a WebSocket.
   */
  readonly onText?: (text: string, encoding: string | null) => void;
}

/**
 * Sends one request over HTTP or a WebSocket. Resolves with its result. Rejects with RpcFailure,
 * with DeadlineExpired after {@link MAX_MS}, or with the signal's reason.
 */
export async function askRpc(
  { url, clock, onText }: RpcTarget,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const send = /^wss?:/.test(url) ? overSocket : overHttp;
  const { text, encoding } = await withDeadline((inner) => send(url, request, inner), MAX_MS, clock, signal);
  onText?.(text, encoding);
  const read = Reply.safeParse(parseJson(text));
  if (!read.success) throw new RpcFailure(`returned something other than JSON-RPC for ${method}`);
  if (!("error" in read.data)) return read.data.result;
  const { code, message } = read.data.error;
  throw new RpcFailure(`returned error ${code} for ${method}: ${message}`);
}

/**
 * Sends a request over a WebSocket and yields the messages. Rejects with RpcFailure when the
 * connection ends or the signal aborts.
 */
export async function* messagesOf(url: string, request: string, signal: AbortSignal): AsyncGenerator<string> {
  const socket = new WebSocket(url, {
    maxPayload: MAX_BYTES,
    handshakeTimeout: MAX_MS,
    followRedirects: false,
  });
  const ended = new AbortController();
  const finish = (reason: string) => ended.abort(new RpcFailure(reason));
  socket.on("open", () => socket.send(request));
  socket.on("unexpected-response", (_request, response) => {
    finish(`rejected the WebSocket with status ${response.statusCode}`);
    response.destroy();
  });
  socket.on("error", () => finish("is unreachable over its WebSocket"));
  socket.on("close", (code) => finish(`closed its WebSocket (${code})`));
  try {
    // Yields the messages that arrived before the end, too.
    const messages = on(socket, "message", { signal: AbortSignal.any([signal, ended.signal]) });
    for await (const [data] of messages) yield String(data);
  } catch {
    throw ended.signal.aborted ? ended.signal.reason : new RpcFailure("was aborted");
  } finally {
    socket.terminate();
  }
}

async function overSocket(url: string, request: string, signal: AbortSignal) {
  for await (const text of messagesOf(url, request, signal)) return { text, encoding: null };
  throw new RpcFailure("sent no answer");
}

async function overHttp(url: string, body: string, signal: AbortSignal) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }).catch(
    () => {
      signal.throwIfAborted();
      throw new RpcFailure("is unreachable: check the name, the port and the network");
    },
  );
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    throw new RpcFailure(`returned ${status}${ADVICE[status] ?? ""}`);
  }
  let bytes = 0;
  const parts: Uint8Array[] = [];
  try {
    for await (const part of response.body ?? []) {
      bytes += part.byteLength;
      // Leaving the loop cancels the response.
      if (bytes > MAX_BYTES) throw new RpcFailure(`returned more than ${MAX_BYTES} bytes`);
      parts.push(part);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RpcFailure) throw error;
    throw new RpcFailure("broke off its answer");
  }
  const encoding = response.headers.get("content-encoding");
  return { text: Buffer.concat(parts).toString("utf8"), encoding };
}

const ADVICE: Readonly<Record<number, string>> = {
  401: ": the key is wrong or missing",
  403: ": it rejects this machine or key",
  404: ": nothing exists at that path",
  429: ": too many requests; use your own key or another endpoint",
};
