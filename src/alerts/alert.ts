import { createHash } from "node:crypto";

/** What a rule has to say to a webhook: one message. */
export interface Alert {
  /** The same whenever the same thing is said again, so that a receiver can tell a repeat: the `webhook-id`. */
  readonly id: string;
  /** Id of the webhook that it is for. */
  readonly webhook: string;
  /** Wall-clock time at which it was made, in milliseconds since 1970 UTC. */
  readonly madeAtMs: number;
  /** The JSON text that is posted and signed. */
  readonly body: string;
}

/** What is said, before it is put into its form. */
export interface AlertContent {
  /** An event's name, or `edge-rose`, `edge-fell`, `alerts-lost`, `alerts-expired`. */
  readonly type: string;
  /** What tells it from everything else that this rule says: cursor and item, say. */
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Puts it into the form of Standard Webhooks: `{"type", "timestamp", "data"}`, where `timestamp` is when it was made. */
export function formAlert(webhook: string, rule: string, content: AlertContent, madeAtMs: number): Alert {
  const { type, key, data } = content;
  const timestamp = new Date(madeAtMs).toISOString();
  return {
    id: `msg_${hash(JSON.stringify([webhook, rule, type, key]))}`,
    webhook,
    madeAtMs,
    body: JSON.stringify({ type, timestamp, data: { rule, ...data } }),
  };
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 27);
}
