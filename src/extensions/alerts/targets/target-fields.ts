import { z } from "zod";
import { isPlainUrl } from "../../../base/lib/io/plain-url.ts";
import { AlertRule } from "../rules/alert-rule.ts";

const MAX_RULES = 100;

/** The fields that every target has. */
export const COMMON = {
  /** Unique. Names the target in the log and in metrics. */
  id: z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, and _ . -"),
  rules: z
    .array(AlertRule)
    .min(1, "a list of at least one rule")
    .max(MAX_RULES, `a list of at most ${MAX_RULES} rules`),
};

/** Allows a URL on this machine or in a private network. Default: false. */
export const ALLOW_PRIVATE = {
  allow_private_addresses: z.boolean({ error: "true or false" }).default(false),
};

export const httpUrl = z
  .string()
  .max(2_048)
  .refine((text) => isPlainUrl(text, /^https?:$/), "an http or https URL without user name and password");

/**
 * A chat channel, identified by the URL of one of its webhooks:
 * `https://discord.com/api/webhooks/ID/TOKEN`, also with `?thread_id=`, or
 * `https://hooks.slack.com/services/…`.
 */
export const ChannelWebhook = z.strictObject({
  id: COMMON.id,
  url: httpUrl,
  ...ALLOW_PRIVATE,
  rules: COMMON.rules,
});
