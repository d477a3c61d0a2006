import { createHash } from "node:crypto";
import { MINUTE_MS } from "../../base/lib/time/time.ts";

/** One message from a rule to a target. */
export interface Alert {
  /** The same for a repeated message, so that a receiver can recognize it. */
  readonly id: string;
  readonly target: string;
  /** When it was created, in milliseconds since 1970 UTC, by a clock that never jumps. */
  readonly madeAtMs: number;
  /** JSON text, which is posted and signed. */
  readonly body: string;
}

export interface AlertContent {
  /** An event's name, or `edge-rose`, `edge-fell`, `alerts-lost`, `alerts-expired`, `test`. */
  readonly type: string;
  /** Identifies the content among all alerts of its rule: cursor and item, for example. */
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Path of the page of its flare or token; `undefined` if it has none. */
  readonly page?: string | undefined;
}

/**
 * Formats an alert as in Standard Webhooks: `{"type", "timestamp", "data"}`. `publicUrl`: this
 * server's public URL, for a link to the page. Default: no link.
 */
export function formAlert(
  target: string,
  rule: string,
  content: AlertContent,
  madeAtMs: number,
  publicUrl?: string,
): Alert {
  const { type, key, data, page } = content;
  const url = publicUrl !== undefined && page !== undefined ? { url: `${publicUrl}/${page}` } : {};
  const timestamp = new Date(madeAtMs).toISOString();
  return {
    id: `msg_${hash(JSON.stringify([target, rule, type, key]))}`,
    target,
    madeAtMs,
    body: JSON.stringify({ type, timestamp, data: { rule, ...url, ...data } }),
  };
}

/** An alert that is sent later than this says so. */
const LATE_MS = MINUTE_MS;

/** Whether an alert that is sent now is late: counted from its event, or else from its creation. */
export function isLate({ body, madeAtMs }: Pick<Alert, "body" | "madeAtMs">, nowMs: number): boolean {
  const { data } = JSON.parse(body) as {
    readonly data: { readonly event?: { readonly emitted_at?: string } };
  };
  const toldAtMs = Date.parse(data.event?.emitted_at ?? "");
  // A rule that resumes after a restart makes alerts of older events.
  return nowMs - (Number.isNaN(toldAtMs) ? madeAtMs : Math.min(toldAtMs, madeAtMs)) > LATE_MS;
}

/** Says when something happened, in a message that is sent late: `at 12:03 UTC, sent late`. */
export function lateText(at: string, sentAtMs: number): string {
  const [day, time] = [at.slice(0, 10), at.slice(11, 16)];
  const isToday = new Date(sentAtMs).toISOString().startsWith(day);
  return `at ${time} UTC${isToday ? "" : ` on ${day}`}, sent late`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}
