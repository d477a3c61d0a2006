import { HttpRequestError, RpcError, RpcRequestError } from "viem";
import { SocketFailure } from "../../service/json-rpc-socket.ts";

/**
 * Why a request failed. `rate`: too many requests. `refused`: the endpoint does not support the
 * request, or not that far back. `reverted`: the called contract failed. `pending`: it does not
 * have the data yet. `failed`: anything else, from a broken connection to an HTML page.
 */
type TroubleKind = "rate" | "refused" | "reverted" | "pending" | "failed";

/**
 * A failed request. The message does not contain the endpoint's address, which may include a key.
 */
export class RpcTrouble extends Error {
  override readonly name = "RpcTrouble";
  readonly kind: TroubleKind;
  /** Pause in milliseconds that the endpoint demands; `undefined` if it names none. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: TroubleKind, words: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(words, options);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

const RATE =
  /rate.?limit|too many requests|throttl|request limit|capacity|compute units|quota|limit exceeded/i;
const REFUSED =
  /method .*(not|isn't) (found|supported|available|allowed|whitelisted)|unsupported method|not implemented/i;
const REVERTED = /revert|out ?of ?gas|invalid opcode|stack (over|under)flow/i;
const RATE_CODES: ReadonlySet<number> = new Set([429, -32_005, -32_029, -32_097]);
const REFUSED_CODES: ReadonlySet<number> = new Set([-32_601, -32_004]);
const MAX_RETRY_AFTER_MS = 300_000;

/** Converts any failure of a request, by the wording that nodes and providers use. */
export function readTrouble(thrown: unknown): RpcTrouble {
  if (thrown instanceof RpcTrouble) return thrown;
  // viem wraps the response if it has its own words for the code.
  const error = thrown instanceof RpcError ? thrown.cause : thrown;
  if (error instanceof RpcRequestError) {
    const { code } = error;
    const words = error.details;
    if (RATE_CODES.has(code) || RATE.test(words))
      return trouble("rate", `reports too many requests (${code})`, error);
    if (REFUSED_CODES.has(code) || REFUSED.test(words))
      return trouble("refused", `does not support the method (${code})`, error);
    if (code === 3 || REVERTED.test(words))
      return trouble("reverted", "reports that the call reverted", error);
    return trouble("failed", `returned error ${code}: ${words.slice(0, 120)}`, error);
  }
  if (error instanceof HttpRequestError) {
    const { status } = error;
    if (status === 429 || RATE.test(error.details)) {
      const retryAfterMs = retryAfter(error.headers?.get("retry-after") ?? null);
      return new RpcTrouble("rate", "reports too many requests", retryAfterMs, { cause: error });
    }
    return trouble("failed", status === undefined ? "is unreachable" : `returned status ${status}`, error);
  }
  if (error instanceof SocketFailure) return trouble("failed", error.message, error);
  const name = error instanceof Error ? error.name : typeof error;
  return trouble(
    "failed",
    name === "TimeoutError" ? "timed out" : `returned no valid response (${name})`,
    error,
  );
}

function trouble(kind: TroubleKind, words: string, cause: unknown): RpcTrouble {
  return new RpcTrouble(kind, words, undefined, { cause });
}

/** Seconds only: a date would require clocks that agree. */
function retryAfter(text: string | null): number | undefined {
  if (text === null || !/^\d{1,6}$/.test(text)) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1_000);
}
