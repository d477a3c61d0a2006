import { z } from "zod";
import { parseJson } from "../../base/lib/parse-json.ts";
import { fieldOf } from "../../base/lib/untrusted-json.ts";
import { connectionTrouble, readText } from "./request-json.ts";

/**
 * An HTTP request got no usable response. The message is the second half of a sentence about the
 * endpoint, without its address.
 */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  /** `undefined` unless the status is what makes the response unusable. */
  readonly status: number | undefined;
  /** The error in the body, or the body itself, as the endpoint wrote it; empty with status 200. */
  readonly detail: string;
  /** The `Retry-After` header. */
  readonly retryAfter: string | null;

  constructor(message: string, { refusal, cause }: HttpFailureOptions = {}) {
    super(message, { cause });
    this.status = refusal?.response.status;
    this.detail = refusal?.detail ?? "";
    this.retryAfter = refusal?.response.headers.get("retry-after") ?? null;
  }
}

interface HttpFailureOptions extends ErrorOptions {
  readonly refusal?: { readonly response: Response; readonly detail: string };
}

interface HttpOptions {
  /** User and password, if any, are sent as Basic authentication. */
  readonly url: string;
  /** Timeout of the whole exchange in milliseconds. */
  readonly timeoutMs: number;
  /** Called with each response, before its body is read. */
  readonly onResponse?: ((response: Response) => void) | undefined;
}

/** Maximum size of a body after decompression. The receipts of a large block take megabytes. */
const MAX_BYTES = 10 * 1024 * 1024;

/** The endpoint responded with an error of JSON-RPC. The message is the endpoint's own. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** 0 if the endpoint sent none. */
  readonly code: number;

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message);
    this.code = code;
  }
}

/** Some services send no code, or only a text. */
const AnyError = z.union([
  z.string().transform((message) => ({ code: 0, message })),
  z.object({ code: z.number().catch(0), message: z.string().catch("") }),
]);
/** A JSON-RPC response: an error or a result, which is `undefined` if the response has neither. */
export const RpcReply = z.union([
  z.object({ error: AnyError }),
  z.object({ result: z.unknown().optional() }),
]);
export type RpcReply = z.infer<typeof RpcReply>;
const Refusal = z.object({ error: z.object({ code: z.number(), message: z.string() }) });

/**
 * Sends a JSON-RPC request over HTTP. Rejects with {@link HttpFailure}, or with a `TimeoutError`. A
 * status other than 2xx does not hide an error of JSON-RPC in the body.
 */
export async function requestRpc(
  method: string,
  params: readonly unknown[],
  { url, timeoutMs, onResponse }: HttpOptions,
): Promise<RpcReply> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { address, headers } = credentialsOf(url);
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      // As for other services, the operator should know that an endpoint moved.
      redirect: "manual",
      signal,
    });
    onResponse?.(response);
    const text = await readText(response, MAX_BYTES);
    if (text === undefined) throw new HttpFailure(`returned more than ${MAX_BYTES} bytes`);
    return response.ok ? RpcReply.parse(JSON.parse(text)) : refusalOf(response, text);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof z.ZodError) throw error;
    const isNoJson = error instanceof SyntaxError;
    const message = isNoJson ? "returned something other than JSON" : connectionTrouble(error);
    throw new HttpFailure(message ?? "is unreachable", { cause: error });
  }
}

/** Returns the error of JSON-RPC in a response whose status is not 2xx. Throws without one. */
function refusalOf(response: Response, text: string): RpcReply {
  const body = parseJson(text);
  const read = Refusal.safeParse(body);
  if (read.success) return read.data;
  const detail = body === undefined ? text : JSON.stringify(fieldOf(body, "error") ?? "");
  throw new HttpFailure(`returned ${response.status}`, { refusal: { response, detail } });
}

/** Moves user and password to a header, because `fetch` rejects them in a URL. */
function credentialsOf(text: string): { readonly address: URL; readonly headers: Record<string, string> } {
  const address = new URL(text);
  const { username, password } = address;
  if (username === "" && password === "") return { address, headers: {} };
  [address.username, address.password] = ["", ""];
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { address, headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } };
}

/** Decodes a part of a URL. Returns a malformed one unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
