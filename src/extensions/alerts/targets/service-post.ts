import { parseJson } from "../../../base/lib/parse-json.ts";
import { failureOf, type Outcome, RETRY } from "../delivery/delivery-plan.ts";
import { postHttp } from "../delivery/http-post.ts";
import { ATTEMPT_TIMEOUT_MS } from "./target.ts";

/** A message to a service, and how to read its response. */
interface ServicePost {
  /** The service's name, for the log. */
  readonly service: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly message: object;
  readonly allowPrivateAddresses: boolean;
  /** Texts that must not be in the log, should the service repeat them. */
  readonly secrets: readonly string[];
  /** Reads a response. `reply`: its JSON, or else its text. */
  read(reply: unknown): ServiceReply;
}

interface ServiceReply {
  /** The service itself confirms the message. A 200 could be from a proxy or a login page. */
  readonly isAccepted: boolean;
  readonly description?: unknown;
  readonly retryAfterS?: unknown;
  /** What the service refuses, if its reason says so. Default: see {@link failureOf}. */
  readonly refuses?: "message" | "target" | undefined;
  /** The address to which the receiver has moved. Default: it has not. */
  readonly movedTo?: string | undefined;
}

/** Maximum bytes of a response that are read. Services repeat the message in theirs. */
const MAX_REPLY_BYTES = 65_536;
const MAX_DESCRIPTION = 200;
/**
 * How long a stopping process waits for the response to a message that it has sent. Services cannot
 * recognize a repeated message.
 */
const STOP_GRACE_MS = 2_000;

/** Posts once; never rejects. */
export async function postToService(stopping: AbortSignal, post: ServicePost): Promise<Outcome> {
  const { service, url, headers, message, allowPrivateAddresses } = post;
  const { signal, forget } = afterGrace(stopping);
  const answer = await postHttp({
    url,
    headers: { "content-type": "application/json", "user-agent": "flarewire", ...headers },
    body: JSON.stringify(message),
    allowPrivateAddresses,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
    maxBodyBytes: MAX_REPLY_BYTES,
    signal,
  }).finally(forget);
  if (answer.kind === "failed") return { ...answer, retryAfterMs: undefined };
  const { status, body = "", retryAfter } = answer;
  const reply = post.read(parseJson(body) ?? body);
  if (status >= 200 && status < 300 && reply.isAccepted) return { kind: "delivered" };
  const { description, retryAfterS, refuses, movedTo } = reply;
  if (movedTo !== undefined) return { kind: "moved", address: movedTo };
  const described = typeof description === "string" ? `: ${clean(description, post.secrets)}` : "";
  // A service could send an object as `retryAfterS`, and `Number` throws for some objects.
  const delays = [retryAfter, typeof retryAfterS === "number" ? retryAfterS : undefined];
  const waits = delays.map(Number).filter((seconds) => seconds > 0);
  const retryAfterMs = Math.min(RETRY.maxRetryAfterMs, Math.ceil(Math.max(...waits) * 1_000));
  const failure = refuses === "message" ? "refused" : "failed";
  return {
    kind: refuses === undefined ? failureOf(status) : failure,
    reason: `${service} returned ${status}${described}`,
    retryAfterMs: waits.length > 0 ? retryAfterMs : undefined,
  };
}

/** Returns an object's property; `undefined` if `reply` is not an object. */
export function fieldOf(reply: unknown, name: string): unknown {
  return typeof reply === "object" && reply !== null ? Reflect.get(reply, name) : undefined;
}

function clean(description: string, secrets: readonly string[]): string {
  // Truncated last: the beginning of a secret would not be recognized.
  const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), description);
  return text.slice(0, MAX_DESCRIPTION).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
}

/**
 * Returns a signal that aborts {@link STOP_GRACE_MS} after `stopping`, or at once if that has
 * aborted already. Call `forget` when the signal is no longer needed, because `stopping` lives as
 * long as the process.
 */
function afterGrace(stopping: AbortSignal): { readonly signal: AbortSignal; forget(): void } {
  const late = new AbortController();
  const begin = () => {
    const grace = AbortSignal.timeout(STOP_GRACE_MS);
    grace.addEventListener("abort", () => late.abort(grace.reason), { once: true });
  };
  if (stopping.aborted) late.abort(stopping.reason);
  else stopping.addEventListener("abort", begin, { once: true });
  return { signal: late.signal, forget: () => stopping.removeEventListener("abort", begin) };
}
