import { backOffMs } from "../../lib/time/back-off.ts";
import type { WebhookAnswer } from "./post-webhook.ts";

/** Bounds of the wait after a failed attempt, in milliseconds. */
export const RETRY = { floorMs: 1_000, ceilingMs: 300_000, longestRetryAfterMs: 3_600_000 } as const;

/** What an attempt leads to. */
export type Outcome =
  /** The message is taken. */
  | { readonly kind: "delivered" }
  /** The receiver wants no more. */
  | { readonly kind: "gone" }
  /** The same message is sent again. `reason`: in words, for the log. */
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMs: number | undefined };

/** What Standard Webhooks makes of an answer: 2xx is the only yes, 410 the only no; a redirect is an error as every other. */
export function judgeAnswer(answer: WebhookAnswer): Outcome {
  if (answer.kind === "failed") return { kind: "failed", reason: answer.reason, retryAfterMs: undefined };
  const { status, retryAfter } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  const redirect = status >= 300 && status < 400 ? ", a redirect, which is not followed" : "";
  const seconds = retryAfter !== undefined && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const retryAfterMs =
    seconds === undefined ? undefined : Math.min(seconds * 1_000, RETRY.longestRetryAfterMs);
  return { kind: "failed", reason: `it answered ${status}${redirect}`, retryAfterMs };
}

/** Milliseconds to wait after the `failures`-th failure in a row (from 1): as {@link backOffMs} has it within {@link RETRY}, and no less than the receiver asked for. */
export function retryDelayMs(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  return Math.max(backOffMs(failures, random, RETRY), retryAfterMs ?? 0);
}
