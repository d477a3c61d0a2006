import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Prefix of a secret, for scanners and the log filter: `fw` for keys, `fwt` for tickets. */
type SecretKind = "fw" | "fwt";

export interface MintedSecret {
  /** Such as `fw_3f9a1c2e_` and 43 characters. Show it once, and never store it. */
  readonly text: string;
  /** The public part, which names the secret in files, lists and logs. */
  readonly id: string;
  /** SHA-256 of `text`. */
  readonly digest: Buffer;
}

const ID_BYTES = 4;
/** 256 bits cannot be guessed, so one round of SHA-256 is enough. Slow hashes are for passwords. */
const SECRET_BYTES = 32;
const FORM = /^(fwt?)_([0-9a-f]{8})_[\w-]{43}$/;
/** Maximum length of a token (JWT), in characters. */
const MAX_TOKEN = 8_192;
const NO_DIGEST = Buffer.alloc(32);

/** Creates a secret from the system's unpredictable bytes. */
export function mintSecret(kind: SecretKind): MintedSecret {
  const id = randomBytes(ID_BYTES).toString("hex");
  const text = `${kind}_${id}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { text, id, digest: digestOf(text) };
}

/** Returns the id in a text that has the form of such a secret, or `undefined`. */
export function idOf(kind: SecretKind, text: string): string | undefined {
  const [, prefix, id] = FORM.exec(text) ?? [];
  return prefix === kind ? id : undefined;
}

/** Returns true if the text contains something in the form of a key or a token (JWT). */
export function holdsKeyOrToken(text: string): boolean {
  return /fw_[0-9a-f]{8}_[\w-]{43}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./.test(text);
}

/**
 * Returns true if the text has the form and at most the length of a token. Its last part, the
 * signature, may be empty.
 */
export function isToken(text: string): boolean {
  return text.length <= MAX_TOKEN && /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}

export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Returns true if the text has this digest. Takes constant time, even without a digest. */
export function isSecretOf(digest: Buffer | undefined, text: string): boolean {
  return timingSafeEqual(digest ?? NO_DIGEST, digestOf(text)) && digest !== undefined;
}

/** Shortens each secret in `text` to its id, `fw_3f9a1c2e_***`, and each token to `eyJ***`. */
export function hideSecrets(text: string): string {
  return text
    .replace(/(fwt?_[0-9a-f]{8})_[\w-]+/g, "$1_***")
    .replace(/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, "eyJ***");
}
