import { createHmac } from "node:crypto";
import { z } from "zod";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { judgeAnswer } from "../delivery/delivery-plan.ts";
import { postHttp } from "../delivery/http-post.ts";
import { ATTEMPT_TIMEOUT_MS, type Target } from "./target.ts";
import { ALLOW_PRIVATE, COMMON, httpUrl } from "./target-fields.ts";

/** Length of a secret, as required by Standard Webhooks. */
const SECRET_BYTES = { min: 24, max: 64 } as const;

export const Webhook = z.strictObject({
  id: COMMON.id,
  url: httpUrl,
  /** Signs each message: `whsec_` and the base64 of 24 to 64 random bytes. */
  secret: z
    .string()
    .refine(
      isSecret,
      `whsec_ and the base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes; create one with printf 'whsec_%s\\n' "$(openssl rand -base64 32)"`,
    ),
  ...ALLOW_PRIVATE,
  rules: COMMON.rules,
});
export type Webhook = z.infer<typeof Webhook>;

/** Posts signed JSON, in the form of Standard Webhooks. */
export function webhookTarget(webhook: Webhook, clock: Clock): Target {
  const { id, rules, url, secret, allow_private_addresses: allowPrivateAddresses } = webhook;
  return {
    id,
    rules,
    identity: `${url} ${secret}`,
    deliver: async (alert, signal) => {
      const answer = await postHttp({
        url,
        headers: {
          "content-type": "application/json",
          "user-agent": "flarewire",
          // Signs the attempt's time, because receivers reject old ones. The body has the
          // message's time.
          ...signWebhook(secretBytes(secret), alert, clock.now()),
        },
        body: alert.body,
        allowPrivateAddresses,
        timeoutMs: ATTEMPT_TIMEOUT_MS,
        signal,
      });
      return judgeAnswer(answer);
    },
  };
}

export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = secretBytes(text);
  return length >= SECRET_BYTES.min && length <= SECRET_BYTES.max;
}

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
