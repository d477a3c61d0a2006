import { z } from "zod";
import { InputError } from "../../lib/input-error.ts";
import { describeIssue, expectedInWords, parseJsonText, readTrustedText } from "../../lib/io/json-file.ts";
import { AlertRule } from "./alert-rule.ts";

const MAX_BYTES = 1_048_576;
const MAX_WEBHOOKS = 100;
const MAX_RULES = 100;
/** Bytes of a secret, as Standard Webhooks asks for. */
const SECRET_BYTES = { least: 24, most: 64 } as const;

/** Where alerts go, and which. */
export const Webhook = z.strictObject({
  /** Names it in the log and in metrics; one of its own. */
  id: z.string().regex(/^[\w.-]{1,64}$/, "1 to 64 letters, digits, and _ . -"),
  /** Posted to; `https:` or `http:`. */
  url: z.string().max(2_048).refine(isHttpUrl, "an http or https URL without user name and password"),
  /** What each message is signed with: `whsec_` and the base64 of 24 to 64 bytes of chance. */
  secret: z
    .string()
    .refine(
      isSecret,
      `whsec_ and the base64 of ${SECRET_BYTES.least} to ${SECRET_BYTES.most} bytes, as printf 'whsec_%s\\n' "$(openssl rand -base64 32)" makes it`,
    ),
  /** May lie on this machine or in a private network; default false: an address there is refused, whatever name leads to it. */
  allow_private_addresses: z.boolean({ error: "true or false" }).default(false),
  rules: z.array(AlertRule).min(1, "at least one rule").max(MAX_RULES, `at most ${MAX_RULES} rules`),
});
export type Webhook = z.infer<typeof Webhook>;

const AlertFile = z.strictObject({
  webhooks: z
    .array(Webhook, { error: "a list" })
    .min(1, "at least one webhook")
    .max(MAX_WEBHOOKS, `at most ${MAX_WEBHOOKS} webhooks`),
});

/** Reads a file of webhooks. Rejects with InputError that names file, field, value and bound; no message holds a secret or an address's query. */
export async function readAlertFile(file: string): Promise<readonly Webhook[]> {
  return parseAlertFile(await readTrustedText(file, MAX_BYTES), file);
}

/** The webhooks in the text of a file that is called `file`. Throws as {@link readAlertFile}. */
export function parseAlertFile(text: string, file: string): readonly Webhook[] {
  const content = parseJsonText(text, file, '{"webhooks": [...]}');
  const parsed = AlertFile.safeParse(content, { error: expectedInWords });
  if (!parsed.success) throw new InputError(file, describeIssue(parsed.error.issues, content, { veil }));
  const { webhooks } = parsed.data;
  const twice = repeated(webhooks.map(({ id }) => id));
  if (twice !== undefined) throw new InputError(file, `two webhooks have the id ${twice}; each has its own`);
  for (const { id, rules } of webhooks) {
    const name = repeated(rules.map((rule) => rule.name));
    if (name !== undefined)
      throw new InputError(file, `two rules of the webhook ${id} have the name ${name}; each has its own`);
  }
  return webhooks;
}

/** The bytes of a secret that {@link Webhook} let through. */
export function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ""), "base64");
}

function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = secretBytes(text);
  return length >= SECRET_BYTES.least && length <= SECRET_BYTES.most;
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) !== at);
}

/** A secret stands in one of them, and may in the other. */
function veil(name: PropertyKey | undefined): string | undefined {
  return name === "secret" || name === "url" ? "of another form" : undefined;
}
