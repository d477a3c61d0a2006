import { createHash, createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { z } from "zod";
import { InputError } from "../../base/lib/input-error.ts";
import { parseJsonText, readTrustedText } from "../../base/lib/io/json-file.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { TokenKey } from "../../gateway/keys/index.ts";

/** Larger sets are rejected, because a token without `kid` is checked with each key. */
const MAX_KEYS = 32;
export const MAX_KEYS_BYTES = 256 * 1_024;
/** A secret must be at least as long as the hash (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32;
const MIN_RSA_BITS = 2_048;
const PEM = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

const Jwk = z.looseObject({
  kty: z.string(),
  kid: z.string().max(256).exactOptional(),
  use: z.string().exactOptional(),
  alg: z.string().exactOptional(),
  key_ops: z.array(z.string()).exactOptional(),
});
const JwkSet = z.object({ keys: z.array(z.unknown()).max(MAX_KEYS) });

/** Reads the keys of a file. Rejects with InputError, which never quotes the file. */
export async function readTokenKeys(file: string) {
  const text = await readTrustedText(file, MAX_KEYS_BYTES);
  return { text, value: parseTokenKeys(text, file) };
}

/**
 * Parses public keys (PEM), a JWK or JWK set, or a secret, which is any other text. `file` is for
 * messages. Throws InputError.
 */
export function parseTokenKeys(text: string, file: string): readonly TokenKey[] {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  try {
    if (trimmed.startsWith("-----BEGIN")) return pemKeys(trimmed);
    if (!trimmed.startsWith("{")) return [secretKey(trimmed)];
    const content = parseJsonText(text, file, "a JWK or a JWK set");
    const isSet = typeof content === "object" && content !== null && "keys" in content;
    return jwkSetKeys(isSet ? content : { keys: [content] }, { allowsSecrets: true });
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(file, messageOf(error), { cause: error });
  }
}

/**
 * Returns the usable keys of a JWK set. Ignores malformed keys and those for other purposes and
 * algorithms. Throws an Error if none remains or the set is malformed or too large.
 */
export function jwkSetKeys(
  content: unknown,
  { allowsSecrets }: { readonly allowsSecrets: boolean },
): readonly TokenKey[] {
  const set = JwkSet.safeParse(content);
  if (!set.success) throw new Error(`it is not a JWK set of at most ${MAX_KEYS} keys`);
  const keys = set.data.keys.flatMap((given) => jwkKey(given, allowsSecrets) ?? []);
  if (keys.length > 0) return keys;
  throw new Error(
    `its JWK set has no key for RS256 (2048 bits or more)${allowsSecrets ? ", HS256" : ""} or ES256`,
  );
}

function jwkKey(given: unknown, allowsSecrets: boolean): TokenKey | undefined {
  const jwk = Jwk.safeParse(given).data;
  if (!jwk || (jwk.use ?? "sig") !== "sig" || jwk.key_ops?.includes("verify") === false) return undefined;
  try {
    const found =
      jwk.kty === "oct"
        ? allowsSecrets && secretOf(Buffer.from(String(jwk.k), "base64url"))
        : publicKey(createPublicKey({ key: jwk, format: "jwk" }));
    if (!found || (jwk.alg ?? found.algorithm) !== found.algorithm) return undefined;
    return { ...found, kid: jwk.kid };
  } catch {
    // One unusable key must not disable the others.
    return undefined;
  }
}

function pemKeys(text: string): readonly TokenKey[] {
  const blocks = [...text.matchAll(PEM)];
  if (blocks.length === 0) throw new Error("it has a PEM key without its END line");
  if (blocks.length > MAX_KEYS) throw new Error(`it has more than ${MAX_KEYS} keys`);
  return blocks.map(([pem, label = ""]) => {
    if (label.includes("PRIVATE"))
      throw new Error("it has a private key, which only the issuer needs; give the public key");
    return publicKey(createPublicKey(pem));
  });
}

function publicKey(key: KeyObject): TokenKey {
  const fingerprint = fingerprintOf(key.export({ format: "der", type: "spki" }));
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa" && modulusLength >= MIN_RSA_BITS)
    return { algorithm: "RS256", key, kid: undefined, fingerprint };
  if (key.asymmetricKeyType === "ec" && namedCurve === "prime256v1")
    return { algorithm: "ES256", key, kid: undefined, fingerprint };
  throw new Error(
    `it has a public key that is neither RSA with ${MIN_RSA_BITS} bits or more nor EC on P-256`,
  );
}

function secretKey(text: string): TokenKey {
  // If a public key were taken for a secret, anyone who knows it could sign tokens.
  if (isPublicKey(text))
    throw new Error(
      "it has a public key that is not in PEM format; convert it to PEM, which starts with -----BEGIN PUBLIC KEY-----",
    );
  if (/[^\x20-\x7e]/.test(text))
    throw new Error("it is neither PEM, nor a JWK set, nor a one-line secret of printable ASCII characters");
  return secretOf(Buffer.from(text));
}

function secretOf(bytes: Buffer): TokenKey {
  if (bytes.length < MIN_SECRET_BYTES)
    throw new Error(
      `it has a secret of ${bytes.length} bytes; it must have ${MIN_SECRET_BYTES} or more, for example from openssl rand -base64 48`,
    );
  return {
    algorithm: "HS256",
    key: createSecretKey(bytes),
    kid: undefined,
    fingerprint: fingerprintOf(bytes),
  };
}

function isPublicKey(text: string): boolean {
  if (/^(ssh-|ecdsa-)/.test(text)) return true;
  try {
    createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" });
    return true;
  } catch {
    return false;
  }
}

function fingerprintOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}
