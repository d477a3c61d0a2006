import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** What a secret's text begins with, so that people, secret scanners and the log's filter know it: `fw` for keys, `fwt` for tickets. */
type SecretKind = "fw" | "fwt";

/** A secret that was just made. */
export interface MintedSecret {
  /** `fw_3f9a1c2e_` and 43 characters; to be shown once and kept nowhere. */
  readonly text: string;
  /** The part that is no secret: names it in files, lists and logs. */
  readonly id: string;
  /** SHA-256 of `text`. */
  readonly digest: Buffer;
}

const ID_BYTES = 4;
/** 256 bits. Nobody guesses them, so one round of SHA-256 keeps them: slow hashes are for passwords, which can be guessed, and would make each request dear. */
const SECRET_BYTES = 32;
const FORM = /^(fwt?)_([0-9a-f]{8})_[\w-]{43}$/;
const NO_DIGEST = Buffer.alloc(32);

/** Makes a secret. `random`: bytes that nobody can foretell; default the system's. */
export function mintSecret(
  kind: SecretKind,
  random: (bytes: number) => Buffer = (bytes) => randomBytes(bytes),
): MintedSecret {
  const id = random(ID_BYTES).toString("hex");
  const text = `${kind}_${id}_${random(SECRET_BYTES).toString("base64url")}`;
  return { text, id, digest: digestOf(text) };
}

/** The id in a text that has the form of a secret of this kind; `undefined` for any other text. */
export function idOf(kind: SecretKind, text: string): string | undefined {
  const [, prefix, id] = FORM.exec(text) ?? [];
  return prefix === kind ? id : undefined;
}

/** True for a text in which a key stands, by its form, alone or among other words. */
export function holdsKey(text: string): boolean {
  return /fw_[0-9a-f]{8}_[\w-]{43}/.test(text);
}

/** SHA-256 of the secret's text. */
export function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** True for the text of this digest. Takes no longer the more of a text is right, and as long without a digest to compare it with. */
export function isSecretOf(digest: Buffer | undefined, text: string): boolean {
  return timingSafeEqual(digest ?? NO_DIGEST, digestOf(text)) && digest !== undefined;
}

/** `text` with every secret in it cut to its id: `fw_3f9a1c2e_***`. */
export function hideSecrets(text: string): string {
  return text.replace(/(fwt?_[0-9a-f]{8})_[\w-]+/g, "$1_***");
}
