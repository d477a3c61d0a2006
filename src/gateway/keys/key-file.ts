import { z } from "zod";
import { InputError } from "../../base/lib/input-error.ts";
import {
  describeIssue,
  expectedInWords,
  parseJsonText,
  readTrustedText,
} from "../../base/lib/io/json-file.ts";
import { ownCommand } from "../../base/lib/own-command.ts";
import { matchChannels, PLANS } from "../../base/protocol/index.ts";
import { hideSecrets } from "./secret.ts";

const MAX_KEYS = 10_000;
const MAX_CHANNELS = 32;
const MAX_BYTES = 8 * 1_048_576;

const instant = () =>
  z.iso.datetime({ offset: true, error: "a time such as 2027-01-31T12:00:00Z, with a time zone" });
const count = () => z.int({ error: "a whole number" }).min(1, "1 or more").max(1_000_000, "at most 1000000");

/** A key as stored in the file, without its secret. */
export const Key = z.strictObject({
  id: z.string().regex(/^[0-9a-f]{8}$/, "8 hexadecimal digits"),
  /** SHA-256 of the whole key, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits; never the key itself"),
  plan: z.enum(PLANS, { error: `one of ${PLANS.join(", ")}` }),
  /** The holder's name, for display. */
  name: z
    .string()
    .regex(/^[^\p{Cc}]{1,64}$/u, "1 to 64 characters, without control characters")
    .optional(),
  created_at: instant().optional(),
  /** The key is invalid from this time on. Default: never. */
  expires_at: instant().optional(),
  /** Channels and patterns to which the key is limited. Default: all of the plan. */
  channels: z
    .array(
      z.string().refine((name) => matchChannels(name).length > 0, "a channel such as flares.pro or charts.*"),
      { error: "a list of channels" },
    )
    .min(1, "one channel or more")
    .max(MAX_CHANNELS, `at most ${MAX_CHANNELS} channels`)
    .optional(),
  /** Limit of open streams and waiting polls. Default: the server's. */
  connections: count().optional(),
  /** Average request rate, and the size of a burst. Default: no limit. */
  requests_per_minute: count().optional(),
});
export type Key = z.infer<typeof Key>;

/** What a key or a token grants. */
export interface KeyGrant extends Omit<Key, "sha256" | "created_at"> {
  /** Absent for a token. See {@link Key}. */
  readonly sha256?: string;
  /** For a token, the fingerprint of the key that signed it. */
  readonly signer?: string;
}

/** Fields whose values are no secrets. A user may have put the key itself into `sha256`. */
const HARMLESS: ReadonlySet<string> = new Set(Object.keys(Key.omit({ sha256: true }).shape));

const KeyFile = z.strictObject({
  keys: z.array(Key, { error: "a list" }).max(MAX_KEYS, `at most ${MAX_KEYS} keys`),
});

/** Reads a key file. Rejects with an InputError, which never contains a key. */
export async function readKeyFile(file: string) {
  const text = await readTrustedText(file, MAX_BYTES);
  return { text, keys: parseKeys(text, file) };
}

/** Parses the text of a key file; `file` is for messages. Throws like {@link readKeyFile}. */
export function parseKeys(text: string, file: string): readonly Key[] {
  const content = parseJsonText(
    text,
    file,
    `{"keys": [...]}, the form that the command "${ownCommand("keys")}" writes`,
  );
  const parsed = KeyFile.safeParse(content, { error: expectedInWords });
  if (!parsed.success) {
    const words = { harmless: HARMLESS, hide: hideSecrets };
    throw new InputError(file, describeIssue(parsed.error.issues, content, words));
  }
  const seen = new Set<string>();
  for (const { id } of parsed.data.keys) {
    if (seen.has(id)) throw new InputError(file, `two keys have the id ${id}; remove one of them`);
    seen.add(id);
  }
  return parsed.data.keys;
}

export function formatKeys(keys: readonly Key[]): string {
  return `${JSON.stringify({ keys }, undefined, 2)}\n`;
}

export function isExpired({ expires_at }: Pick<Key, "expires_at">, nowMs: number): boolean {
  return expires_at !== undefined && Date.parse(expires_at) <= nowMs;
}
