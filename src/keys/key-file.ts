import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { InputError } from "../lib/input-error.ts";
import { PLANS } from "../protocol/index.ts";
import { hideSecrets } from "./secret.ts";

/** Most keys of a file. */
const MOST_KEYS = 10_000;
const MOST_BYTES = 8 * 1_048_576;
/** Most of a value that a message repeats. */
const QUOTED = 64;

const instant = () =>
  z.iso.datetime({ offset: true, error: "a time such as 2027-01-31T12:00:00Z, with its zone" });
const count = () => z.int({ error: "a whole number" }).min(1, "1 or more").max(1_000_000, "at most 1000000");

/** A key as its file holds it. The key itself is not in it. */
export const Key = z.strictObject({
  /** The part of the key that is no secret. */
  id: z.string().regex(/^[0-9a-f]{8}$/, "8 hexadecimal digits"),
  /** SHA-256 of the whole key, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits; never the key itself"),
  plan: z.enum(PLANS, { error: `one of ${PLANS.join(", ")}` }),
  /** Whose it is, for people. */
  name: z
    .string()
    .regex(/^[^\p{Cc}]{1,64}$/u, "1 to 64 characters, none of them for control")
    .optional(),
  created_at: instant().optional(),
  /** From this moment on it does not count any more; left out: it always does. */
  expires_at: instant().optional(),
  /** Open streams and waiting polls with it; left out: as many as the server takes. */
  connections: count().optional(),
  /** Requests in the long run, and at once after a rest; left out: no bound. */
  requests_per_minute: count().optional(),
});
export type Key = z.infer<typeof Key>;

const KeyFile = z.strictObject({
  keys: z.array(Key, { error: "a list" }).max(MOST_KEYS, `at most ${MOST_KEYS} keys`),
});

/** Reads a file of keys. Throws InputError that names file, field, value and bound; no message holds a key. */
export async function readKeyFile(
  file: string,
): Promise<{ readonly text: string; readonly keys: readonly Key[] }> {
  try {
    const about = await stat(file);
    if (!about.isFile()) throw new InputError(file, "it is no regular file");
    if (about.size > MOST_BYTES)
      throw new InputError(file, `it has ${about.size} bytes; ${MOST_BYTES} is the most`);
    const text = await readFile(file, "utf8");
    return { text, keys: parseKeys(text, file) };
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new InputError(file, `it cannot be read (${code})`, { cause: error });
  }
}

/** The keys in the text of a file; `file` is for messages. Throws as {@link readKeyFile}. */
export function parseKeys(text: string, file: string): readonly Key[] {
  const parsed = KeyFile.safeParse(readJson(text, file));
  if (!parsed.success) throw new InputError(file, explain(parsed.error, readJson(text, file)));
  const seen = new Set<string>();
  for (const { id } of parsed.data.keys) {
    if (seen.has(id)) throw new InputError(file, `two keys have the id ${id}; each has to have its own`);
    seen.add(id);
  }
  return parsed.data.keys;
}

/** The text of a file with these keys. */
export function formatKeys(keys: readonly Key[]): string {
  return `${JSON.stringify({ keys }, undefined, 2)}\n`;
}

/** True from the key's last moment on. */
export function isExpired({ expires_at }: Key, nowMs: number): boolean {
  return expires_at !== undefined && Date.parse(expires_at) <= nowMs;
}

function readJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    // The parser's own reason quotes the file.
    const what = text.trim() === "" ? "it is empty" : "it is not JSON";
    throw new InputError(file, `${what}; it has to be {"keys": [...]}, as flarewire keys writes it`);
  }
}

function explain({ issues }: z.ZodError, content: unknown): string {
  const [issue] = issues;
  const path = issue?.path ?? [];
  const place = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  const field = place.replace(/^\./, "") || "the file";
  if (issue?.code === "unrecognized_keys") {
    const known = path.length === 0 ? "keys" : Object.keys(Key.shape).join(", ");
    const unknown = issue.keys.map((key) => JSON.stringify(hideSecrets(key.slice(0, QUOTED)))).join(", ");
    return `${field} has ${unknown}, which nobody knows; there are ${known}`;
  }
  const value = path.reduce<unknown>(
    (part, key) => (typeof part === "object" && part !== null ? Reflect.get(part, key) : undefined),
    content,
  );
  const shown = path.at(-1) === "sha256" ? "of another form" : quote(value);
  return `${field} is ${shown}; it has to be ${issue?.message ?? "another value"}`;
}

function quote(value: unknown): string {
  if (value === undefined) return "missing";
  return hideSecrets(JSON.stringify(value)).slice(0, QUOTED);
}
