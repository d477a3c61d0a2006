import { CHAIN_GROUPS, wordsFor } from "../../../base/model/index.ts";
import { decoded, HttpFailure, RpcError } from "../../service/json-rpc-http.ts";
import { SocketFailure } from "../../service/json-rpc-socket.ts";

/**
 * Why a request failed. `rate`: too many requests. `refused`: the endpoint does not support the
 * method. `reverted`: the called contract failed. `pending`: the data is not available yet, or no
 * second endpoint has it yet. `failed`: anything else, such as a broken connection, an HTML page or
 * state that a node has pruned.
 */
type FailureKind = "rate" | "refused" | "reverted" | "pending" | "failed";

/**
 * A failed request. The message is the second half of a sentence about the endpoint, until
 * {@link RpcFailure.of} adds the endpoint's name. A message about several endpoints is a whole
 * sentence. Messages hide the endpoint's address, which may include a key, except its host (see
 * {@link hideAddress}). `cause` may contain all of it.
 */
export class RpcFailure extends Error {
  override readonly name = "RpcFailure";
  readonly kind: FailureKind;
  /** The message without the endpoint's own text, which is not safe to show publicly. */
  readonly words: string;
  /** Pause in milliseconds that the endpoint demands; `undefined` if it names none. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, words: string, options: FailureOptions = {}) {
    const { detail, retryAfterMs, cause } = options;
    super(detail === undefined ? words : `${words}: ${detail}`, { cause });
    this.kind = kind;
    this.words = words;
    this.retryAfterMs = retryAfterMs;
  }

  /** Returns the failure as a sentence about the endpoint of that name. */
  of(name: string): RpcFailure {
    const detail = this.message.slice(this.words.length + 2);
    const { retryAfterMs } = this;
    const options = { retryAfterMs, cause: this, ...(detail === "" ? {} : { detail }) };
    return new RpcFailure(this.kind, `${name} ${this.words}`, options);
  }
}

interface FailureOptions extends ErrorOptions {
  /** The endpoint's own text. Hide its address first, with `hideAddress`. */
  readonly detail?: string;
  readonly retryAfterMs?: number | undefined;
}

const RATE =
  /rate.?limit|too many requests|throttl|request limit|capacity|compute units|quota|limit exceeded/i;
const REFUSED =
  /method .*(not|isn't) (found|supported|available|allowed|whitelisted)|unsupported method|not implemented/i;
const REVERTED = /revert|out ?of ?gas|invalid opcode|stack (over|under)flow/i;
const RATE_CODES: ReadonlySet<number> = new Set([429, -32_005, -32_029, -32_097]);
const REFUSED_CODES: ReadonlySet<number> = new Set([-32_601, -32_004]);
const MAX_RETRY_AFTER_MS = 300_000;
const MAX_DETAIL = 120;
/** Maximum length of a text that is searched, which may take the square of the length. */
const MAX_SEARCHED = 1_000;
/** Hiding a shorter text would garble ordinary words. */
const MIN_SECRET = 8;
/** Names of networks, which are no keys. Any other word could be a key that a person chose. */
const WORDS = ["chain", "fuji", "mainnet", "smart", "testnet", ...CHAIN_GROUPS.flatMap(wordsFor)];
const NETWORK = new RegExp(`^(?:(?:${WORDS.join("|")})[-_]?)+$`);

interface RequestOptions {
  /** The endpoint's address, which is hidden where an error repeats it. */
  readonly url: string;
  /** The request's timeout. */
  readonly timeoutMs: number;
}

/** Converts any failure of a request. Recognizes the codes and wordings of nodes and providers. */
export function toRpcFailure(thrown: unknown, { url, timeoutMs }: RequestOptions): RpcFailure {
  const cause = thrown;
  if (thrown instanceof RpcFailure) return thrown;
  if (thrown instanceof RpcError) {
    const { code, message } = thrown;
    const words = message.slice(0, MAX_SEARCHED);
    if (RATE_CODES.has(code) || RATE.test(words))
      return new RpcFailure("rate", `refuses requests because there are too many (${code})`, { cause });
    if (REFUSED_CODES.has(code) || REFUSED.test(words))
      return new RpcFailure("refused", `does not support the method (${code})`, { cause });
    if (code === 3 || REVERTED.test(words))
      return new RpcFailure("reverted", "reports that the call reverted", { cause });
    const detail = hideAddress(message, url).slice(0, MAX_DETAIL);
    return new RpcFailure("failed", `returned error ${code}`, { detail, cause });
  }
  if (thrown instanceof HttpFailure) {
    const { status, detail, message } = thrown;
    if (status === 429 || RATE.test(detail.slice(0, MAX_SEARCHED))) {
      const retryAfterMs = retryAfter(thrown.retryAfter);
      return new RpcFailure("rate", "refuses requests because there are too many", { retryAfterMs, cause });
    }
    return new RpcFailure("failed", message, { cause });
  }
  if (thrown instanceof SocketFailure) return new RpcFailure("failed", thrown.message, { cause });
  if (thrown instanceof Error && thrown.name === "TimeoutError")
    return new RpcFailure("failed", `did not respond within ${timeoutMs / 1_000} s`, { cause });
  return invalidAnswer(thrown);
}

/** Converts an error in reading an answer. */
export function invalidAnswer(thrown: unknown): RpcFailure {
  if (thrown instanceof RpcFailure) return thrown;
  return new RpcFailure("failed", "returned data of an unexpected form", { cause: thrown });
}

/**
 * Converts a pause in seconds to milliseconds, at most five minutes; `undefined` for anything else.
 * A date is ignored, because it would require clocks that agree.
 */
function retryAfter(text: string | null): number | undefined {
  if (text === null || !/^\d{1,6}$/.test(text)) return undefined;
  return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1_000);
}

/**
 * Replaces parts of a service's URL in a text, because a service may repeat its address, with the
 * key, in an answer. Hides user, password, path segments and the parts of the query, but not the
 * host, names of networks and parts of less than eight characters. Truncate afterwards, because
 * half a key would not be found.
 */
export function hideAddress(text: string, url: string): string {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const query = search.slice(1);
  const parts = [username, password, ...pathname.split("/"), query, ...query.split(/[&=]/)];
  return (
    [...parts, ...parts.map(decoded), ...searchParams.values()]
      .filter((part) => part.length >= MIN_SECRET && !NETWORK.test(part))
      // The longest first, because it may contain another part.
      .sort((a, b) => b.length - a.length)
      .reduce((rest, secret) => rest.replaceAll(secret, "…"), text)
  );
}
