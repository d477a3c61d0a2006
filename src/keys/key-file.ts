import { z } from "zod";
import { InputError } from "../lib/input-error.ts";
import { describeIssue, parseJsonText, readTrustedText } from "../lib/io/json-file.ts";
import { PLANS } from "../protocol/index.ts";
import { hideSecrets } from "./secret.ts";

/** Most keys of a file. */
const MAX_KEYS = 10_000;
const MAX_BYTES = 8 * 1_048_576;

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
  keys: z.array(Key, { error: "a list" }).max(MAX_KEYS, `at most ${MAX_KEYS} keys`),
});

/** Reads a file of keys. Throws InputError that names file, field, value and bound; no message holds a key. */
export async function readKeyFile(
  file: string,
): Promise<{ readonly text: string; readonly keys: readonly Key[] }> {
  const text = await readTrustedText(file, MAX_BYTES);
  return { text, keys: parseKeys(text, file) };
}

/** The keys in the text of a file; `file` is for messages. Throws as {@link readKeyFile}. */
export function parseKeys(text: string, file: string): readonly Key[] {
  const content = parseJsonText(text, file, '{"keys": [...]}, as flarewire keys writes it');
  const parsed = KeyFile.safeParse(content);
  if (!parsed.success) {
    const known = (depth: number) => (depth === 0 ? ["keys"] : Object.keys(Key.shape));
    throw new InputError(
      file,
      describeIssue(parsed.error.issues, content, { veil, hide: hideSecrets, known }),
    );
  }
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

/** Whoever puts the key itself there must not find it in a log. */
function veil(name: PropertyKey | undefined): string | undefined {
  return name === "sha256" ? "of another form" : undefined;
}
