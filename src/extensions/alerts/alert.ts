import { createHash } from "node:crypto";

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

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}
