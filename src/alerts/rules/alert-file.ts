import { z } from "zod";
import { InputError } from "../../lib/input-error.ts";
import { describeIssue, expectedInWords, parseJsonText, readTrustedText } from "../../lib/io/json-file.ts";
import { AlertRule } from "./alert-rule.ts";

const MAX_BYTES = 1_048_576;
const MAX_WEBHOOKS = 100;
const MAX_RULES = 100;
/** Length of a secret, as required by Standard Webhooks. */
const SECRET_BYTES = { min: 24, max: 64 } as const;

export const Webhook = z.strictObject({
  /** Unique. Names the webhook in the log and in metrics. */
  id: z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, and _ . -"),
  url: z.string().max(2_048).refine(isHttpUrl, "an http or https URL without user name and password"),
  /** Signs each message: `whsec_` and the base64 of 24 to 64 random bytes. */
  secret: z
    .string()
    .refine(
      isSecret,
      `whsec_ and the base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes; create one with printf 'whsec_%s\\n' "$(openssl rand -base64 32)"`,
    ),
  /** Allows a URL on this machine or in a private network. Default: false. */
  allow_private_addresses: z.boolean({ error: "true or false" }).default(false),
  rules: z
    .array(AlertRule)
    .min(1, "a list of at least one rule")
    .max(MAX_RULES, `a list of at most ${MAX_RULES} rules`),
});
export type Webhook = z.infer<typeof Webhook>;

const AlertFile = z.strictObject({
  webhooks: z
    .array(Webhook, { error: "a list" })
    .min(1, "a list of at least one webhook")
    .max(MAX_WEBHOOKS, `a list of at most ${MAX_WEBHOOKS} webhooks`),
});

/** Reads a file of webhooks. Rejects with InputError, which contains no secret and no query. */
export async function readAlertFile(file: string): Promise<readonly Webhook[]> {
  return parseAlertFile(await readTrustedText(file, MAX_BYTES), file);
}

export function parseAlertFile(text: string, file: string): readonly Webhook[] {
  const content = parseJsonText(text, file, '{"webhooks": [...]}');
  const parsed = AlertFile.safeParse(content, { error: expectedInWords });
  if (!parsed.success) throw new InputError(file, describeIssue(parsed.error.issues, content, { veil }));
  const { webhooks } = parsed.data;
  const twice = repeated(webhooks.map(({ id }) => id));
  if (twice !== undefined) throw new InputError(file, `two webhooks have the id ${twice}; give each its own`);
  for (const { id, rules } of webhooks) {
    const name = repeated(rules.map((rule) => rule.name));
    if (name !== undefined)
      throw new InputError(file, `two rules of webhook ${id} have the name ${name}; give each its own`);
  }
  return webhooks;
}

export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = secretBytes(text);
  return length >= SECRET_BYTES.min && length <= SECRET_BYTES.max;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

/** Hides a secret and a URL, which may contain one. */
function veil(name: PropertyKey | undefined): string | undefined {
  return name === "secret" || name === "url" ? "malformed" : undefined;
}
