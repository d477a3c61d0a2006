import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { SignJWT } from "jose";
import { InputError } from "../../../base/lib/input-error.ts";
import { readTrustedText } from "../../../base/lib/io/json-file.ts";
import { PRIVATE_FILE } from "../../../base/lib/io/private-file.ts";
import { HOUR_MS } from "../../../base/lib/time/time.ts";

const MAX_BYTES = 4_096;
/** Permissions of everyone but the owner. */
const OTHERS = 0o077;
/** How long a signature is valid; RFC 8292 allows a day. */
const VALID_MS = 12 * HOUR_MS;

/** The server's key for push services. Only its holder can send to the server's subscriptions. */
export type VapidKey = ReturnType<typeof vapidKey>;

/**
 * Reads the key, or creates it, readable for its owner only. Without a path, the key is lost when
 * the process ends. If the group or others have any permission for the file, makes it private and
 * calls `onRepaired`. Rejects with InputError if any user can write to it, or if it contains no
 * P-256 private key.
 */
export async function openVapidKey(path: string | undefined, onRepaired: () => void): Promise<VapidKey> {
  if (path === undefined) return vapidKey(newKey());
  if (!existsSync(path)) {
    const text = newKey().export({ format: "pem", type: "pkcs8" });
    writeFileSync(path, text, { mode: PRIVATE_FILE, flag: "wx" });
  }
  const text = await readTrustedText(path, MAX_BYTES);
  if (statSync(path).mode & OTHERS && process.platform !== "win32") {
    chmodSync(path, PRIVATE_FILE);
    onRepaired();
  }
  try {
    return vapidKey(createPrivateKey(text));
  } catch (cause) {
    throw new InputError(path, "it contains no P-256 private key; remove it to create one", { cause });
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

function vapidKey(key: KeyObject) {
  const { crv, x = "", y = "" } = key.export({ format: "jwk" });
  if (crv !== "P-256") throw new Error(`the curve is ${crv}`);
  const point = [Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  const publicKey = Buffer.concat(point).toString("base64url");
  return {
    /** For browsers: 65 bytes in base64url. */
    publicKey,
    /** Returns the value of `Authorization` for a push service, as in RFC 8292. */
    authorize: async (endpoint: string, contact: string, nowMs: number): Promise<string> => {
      const exp = Math.floor((nowMs + VALID_MS) / 1_000);
      const claims = { aud: new URL(endpoint).origin, exp, sub: contact };
      const token = await new SignJWT(claims).setProtectedHeader({ typ: "JWT", alg: "ES256" }).sign(key);
      return `vapid t=${token}, k=${publicKey}`;
    },
  };
}
