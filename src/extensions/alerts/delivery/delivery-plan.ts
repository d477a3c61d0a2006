import { backOffMs } from "../../../base/lib/time/back-off.ts";
import type { HttpAnswer } from "./http-post.ts";

/** Bounds of the wait after a failed attempt, in milliseconds. */
export const RETRY = { floorMs: 1_000, ceilingMs: 300_000, maxRetryAfterMs: 3_600_000 } as const;

export type Outcome =
  | { readonly kind: "delivered" }
  /** The receiver wants no more messages. */
  | { readonly kind: "gone" }
  /** The receiver is elsewhere now. Send the message again, to this address. */
  | { readonly kind: "moved"; readonly address: string }
  /** Send the message again. `refused`: the receiver refuses this message for its content. */
  | Failure;

interface Failure {
  readonly kind: "failed" | "refused";
  /** In words, for the log. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}

/**
 * The statuses that refuse one message: it is malformed, known already, too large, unprocessable or
 * illegal. Other statuses are about the target (401, 403, 404) or the service (429, 5xx).
 */
const OF_CONTENT: ReadonlySet<number> = new Set([400, 409, 413, 414, 415, 422, 431, 451]);

/** Returns the kind of failure that a response's status means. */
export function failureOf(status: number): Failure["kind"] {
  return OF_CONTENT.has(status) ? "refused" : "failed";
}

/**
 * Interprets a response as in Standard Webhooks: 2xx accepts, 410 declines, all else fails. See
 * {@link failureOf}.
 */
export function judgeAnswer(answer: HttpAnswer): Outcome {
  if (answer.kind === "failed") return { kind: "failed", reason: answer.reason, retryAfterMs: undefined };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  const redirect = status >= 300 && status < 400 ? ", a redirect; redirects are not followed" : "";
  const seconds = retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const retryAfterMs = seconds === undefined ? undefined : Math.min(seconds * 1_000, RETRY.maxRetryAfterMs);
  return { kind: failureOf(status), reason: `the receiver returned ${status}${redirect}`, retryAfterMs };
}

/** Returns the wait after consecutive failures, within {@link RETRY}; at least `Retry-After`. */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  return Math.max(backOffMs(failures, random, RETRY), retryAfterMs ?? 0);
}
