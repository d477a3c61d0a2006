import { createHash, ECDH } from "node:crypto";
import { z } from "zod";
import { isPlainUrl } from "../../../base/lib/io/plain-url.ts";
import { Filter, FLARE_CHANNELS } from "../../../base/protocol/index.ts";
import type { AlertRule, NewsName } from "../rules/alert-rule.ts";

const MAX_RULES = 60;

const bytes = (count: number, what: string) =>
  z
    .string()
    .regex(/^[\w-]{1,120}={0,2}$/, what)
    .refine((text) => Buffer.from(text, "base64url").length === count, what);

/** A page's request for alerts while it is closed. */
export const PushRequest = z.strictObject({
  endpoint: z
    .string()
    .max(1_024, "at most 1024 characters")
    .refine((text) => isPlainUrl(text, /:$/), "a URL without a password"),
  keys: z.strictObject({
    /** The browser's public key on P-256, uncompressed. */
    p256dh: bytes(65, "65 bytes in base64url"),
    /** A secret. */
    auth: bytes(16, "16 bytes in base64url"),
  }),
  rules: z
    .array(z.strictObject({ channel: z.enum(FLARE_CHANNELS), filter: Filter }))
    .min(1, "a list of at least one rule")
    .max(MAX_RULES, `a list of at most ${MAX_RULES} rules`),
});
export type PushRequest = z.infer<typeof PushRequest>;

/** Whether a browser's public key is a point on P-256. With any other, nothing can be encrypted. */
export function isPoint(p256dh: string): boolean {
  const point = Buffer.from(p256dh, "base64url");
  try {
    // OpenSSL also reads a hybrid form, which browsers do not have.
    return point[0] === 4 && ECDH.convertKey(point, "prime256v1").length > 0;
  } catch {
    return false;
  }
}

/** Returns a subscription's id: a hash of its endpoint, which is a secret. */
export function subscriptionId(endpoint: string): string {
  return `push-${createHash("sha256").update(endpoint).digest("base64url").slice(0, 22)}`;
}

/**
 * Returns the subscription's rules. A rule's name comes from its content, so that changes of other
 * rules do not restart it. `isFree`: limits them to what a visitor without a key sees. Accepts
 * rules that can never apply, because an earlier version may have stored some.
 */
export function rulesOf({ rules }: PushRequest, isFree: boolean): readonly AlertRule[] {
  const byName = new Map<string, AlertRule>();
  for (const { channel, filter } of rules) {
    const channels = [isFree ? channel.replace(/\.pro$/, ".free") : channel];
    const isFinished = channel.endsWith(".finished");
    const names: NewsName[] = isFinished ? ["flare-finished"] : ["flare-started", "flare-surged"];
    const content = { channels, filter: { ...filter, names } };
    const name = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
    byName.set(name, { name, ...content, quiet_seconds: 0 });
  }
  return [...byName.values()];
}
