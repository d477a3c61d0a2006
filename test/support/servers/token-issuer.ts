import { generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { SignJWT } from "jose";
import { ManualClock } from "../time/manual-clock.ts";

/** Issuer and audience that the server under test requires. */
export const ISSUER = "https://login.example.org/";
export const AUDIENCE = "https://flares.example.org";

/** Start time of {@link ManualClock}, in seconds. */
export const START_S = new ManualClock().now() / 1_000;

export interface TokenIssuer {
  /** Content of the operator's file: a public key as PEM, or the secret. */
  readonly file: string;
  /** The public key for a JWK set, with the `kid`. */
  readonly jwk: Record<string, unknown>;
  /** Signs a token, which is valid for a minute from the clock's start unless the claims differ. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
}

/** Creates an issuer of signed tokens. `kid`: added to each header; default: none. */
export function createIssuer(algorithm: "HS256" | "RS256" | "ES256", kid?: string): TokenIssuer {
  const secret = randomBytes(48).toString("base64");
  const pair = pairOf(algorithm);
  const key = pair ? pair.privateKey : Buffer.from(secret);
  return {
    file: pair ? String(pair.publicKey.export({ format: "pem", type: "spki" })) : secret,
    jwk: { ...pair?.publicKey.export({ format: "jwk" }), ...(kid === undefined ? {} : { kid }) },
    sign: (claims = {}, header = {}) =>
      new SignJWT({ ...claimsOf(), ...claims })
        .setProtectedHeader({ alg: algorithm, ...(kid === undefined ? {} : { kid }), ...header })
        .sign(key),
  };
}

export function claimsOf(): Record<string, unknown> {
  return { iss: ISSUER, aud: AUDIENCE, sub: "desk-7", plan: "pro", exp: START_S + 60 };
}

/** Builds a token from parts that the test provides. */
export function forge(header: object, claims: object, signature = ""): string {
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
  return `${part(header)}.${part(claims)}.${signature}`;
}

function pairOf(algorithm: string): { publicKey: KeyObject; privateKey: KeyObject } | undefined {
  if (algorithm === "RS256") return generateKeyPairSync("rsa", { modulusLength: 2_048 });
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  return undefined;
}
