import { HttpRequestError, RpcRequestError } from "viem";

/**
 * Why an endpoint did not answer as it should. `rate`: it was asked too often. `refused`: it does not do this at all, or not that far back. `reverted`: the contract
 * that was called failed. `failed`: everything else, from a cut line to a page in HTML.
 */
type TroubleKind = "rate" | "refused" | "reverted" | "failed";

/** An endpoint's trouble, in words without the endpoint's address, in which there may be a key. */
export class RpcTrouble extends Error {
  override readonly name = "RpcTrouble";
  readonly kind: TroubleKind;
  /** How long the endpoint asks to be left alone, in milliseconds; `undefined`: it does not say. */
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
const REVERTED = /revert|out of gas|invalid opcode|stack (over|under)flow/i;
const RATE_CODES: ReadonlySet<number> = new Set([429, -32_005, -32_029, -32_097]);
const REFUSED_CODES: ReadonlySet<number> = new Set([-32_601, -32_004]);
const MAX_RETRY_AFTER_MS = 300_000;

/** Reads any failure of a request, in the words that nodes and their providers use. */
export function readTrouble(error: unknown): RpcTrouble {
  if (error instanceof RpcTrouble) return error;
  if (error instanceof RpcRequestError) {
    const { code } = error;
    const words = error.details;
    if (RATE_CODES.has(code) || RATE.test(words))
      return trouble("rate", `is asked too often (${code})`, error);
    if (REFUSED_CODES.has(code) || REFUSED.test(words))
      return trouble("refused", `refuses the method (${code})`, error);
    if (code === 3 || REVERTED.test(words)) return trouble("reverted", "says that the call failed", error);
    return trouble("failed", `answers with error ${code}: ${words.slice(0, 120)}`, error);
  }
  if (error instanceof HttpRequestError) {
    const { status } = error;
    if (status === 429 || RATE.test(error.details)) {
      const retryAfterMs = retryAfter(error.headers?.get("retry-after") ?? null);
      return new RpcTrouble("rate", "is asked too often", retryAfterMs, { cause: error });
    }
    return trouble(
      "failed",
      status === undefined ? "cannot be reached" : `answers with status ${status}`,
      error,
    );
  }
  const name = error instanceof Error ? error.name : typeof error;
  return trouble(
    "failed",
    name === "TimeoutError" ? "does not answer" : `gives no usable answer (${name})`,
    error,
  );
}

function trouble(kind: TroubleKind, words: string, cause: unknown): RpcTrouble {
  return new RpcTrouble(kind, words, undefined, { cause });
}

/** Seconds only: a date would need a clock that agrees with the provider's. */
function retryAfter(text: string | null): number | undefined {
  if (text === null || !/^\d{1,6}$/.test(text)) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1_000);
}
