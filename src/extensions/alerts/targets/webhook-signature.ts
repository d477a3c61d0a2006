import { createHmac } from "node:crypto";

/**
 * Returns the headers of Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks),
 * by which a receiver verifies a message. `id`: the same for each attempt.
 */
export function signWebhook(
  secret: Buffer,
  message: { readonly id: string; readonly body: string },
  nowMs: number,
): Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const mac = createHmac("sha256", secret).update(`${message.id}.${timestamp}.${message.body}`);
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${mac.digest("base64")}`,
  };
}
