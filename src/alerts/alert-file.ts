import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../lib/input-error.ts";
import { AlertRule } from "./alert-rule.ts";

const MOST_BYTES = 1_048_576;
const MOST_WEBHOOKS = 100;
const MOST_RULES = 100;
/** Bytes of a secret, as Standard Webhooks asks for. */
const SECRET_BYTES = { least: 24, most: 64 } as const;
/** Most of a value that a message repeats. */
const QUOTED = 64;

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
  rules: z.array(AlertRule).min(1, "at least one rule").max(MOST_RULES, `at most ${MOST_RULES} rules`),
});
export type Webhook = z.infer<typeof Webhook>;

const AlertFile = z.strictObject({
  webhooks: z
    .array(Webhook, { error: "a list" })
    .min(1, "at least one webhook")
    .max(MOST_WEBHOOKS, `at most ${MOST_WEBHOOKS} webhooks`),
});

/** Reads a file of webhooks. Rejects with InputError that names file, field, value and bound; no message holds a secret or an address's query. */
export async function readAlertFile(file: string): Promise<readonly Webhook[]> {
  let text: string;
  try {
    const { size } = await stat(file);
    if (size > MOST_BYTES) throw new InputError(file, `it has ${size} bytes; ${MOST_BYTES} is the most`);
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new InputError(file, `it cannot be read (${code})`, { cause: error });
  }
  return parseAlertFile(text, file);
}

/** The webhooks in the text of a file that is called `file`. Throws as {@link readAlertFile}. */
export function parseAlertFile(text: string, file: string): readonly Webhook[] {
  const content = readJson(text, file);
  const parsed = AlertFile.safeParse(content);
  if (!parsed.success) throw new InputError(file, explain(parsed.error, content));
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

function readJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // The parser's own reason quotes the file, with its secrets.
    const what = text.trim() === "" ? "it is empty" : "it is not JSON";
    throw new InputError(file, `${what}; it has to be {"webhooks": [...]}`);
  }
}

function explain({ issues }: z.ZodError, content: unknown): string {
  const [issue] = issues;
  const path = issue?.path ?? [];
  const place = path.map((part) => (/^\d+$/.test(String(part)) ? `[${String(part)}]` : `.${String(part)}`));
  const field = place.join("").replace(/^\./, "") || "the file";
  if (issue?.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => JSON.stringify(key.slice(0, QUOTED))).join(", ");
    return `${field} has ${names}, which nobody knows`;
  }
  const value = path.reduce<unknown>(
    (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
    content,
  );
  return `${field} is ${shown(path.at(-1), value)}; it has to be ${issue?.message ?? "another value"}`;
}

function shown(name: PropertyKey | undefined, value: unknown): string {
  if (value === undefined) return "missing";
  // A secret stands in one of them, and may in the other.
  if (name === "secret" || name === "url") return "of another form";
  return JSON.stringify(value).slice(0, QUOTED);
}
