import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from "jose";
import { z } from "zod";
import { BoundedMap } from "../../base/lib/bounded-map.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import { Key, type KeyGrant } from "./key-file.ts";
import type { KnownKeys } from "./key-ring.ts";
import { digestOf, isToken } from "./secret.ts";
import { grantIn } from "./ticket-table.ts";
import type { TokenKey, TokenSource } from "./token-source.ts";

interface TokenVerifierOptions {
  readonly source: TokenSource;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: Clock;
}

/** Maximum number of verified tokens in the cache. Verifying one costs as much as a request. */
const MAX_VERIFIED = 10_000;
/** Maximum number of tokens whose first use is remembered. The others wait for newer keys again. */
const MAX_ASKED = 10_000;
/**
 * How far the issuer's clock may be ahead (`nbf`). Callers reject an expired grant, without this
 * tolerance.
 */
const CLOCK_TOLERANCE_S = 5;
const MAX_NAME = 64;
const UNAVAILABLE = "tokens cannot be verified: the issuer's keys are not available; retry later";
const UNKNOWN =
  "the token cannot be verified yet: the issuer may have new keys, which are fetched soon; retry later";

/** The claims that determine access. The issuer's other claims are ignored. */
const Claims = z.object({
  sub: z.string().min(1).max(256),
  /** Seconds since 1970 UTC, up to the end of the year 9999. */
  exp: z.number().min(0).max(253_402_300_799),
  plan: Key.shape.plan.default("free"),
  name: z.string().optional().catch(undefined),
  channels: Key.shape.channels,
  connections: Key.shape.connections,
  requests_per_minute: Key.shape.requests_per_minute,
});

/** None of the known keys signed the token, but one that the issuer added since then may have. */
class UnknownKeyError extends Error {}

/** Verifies JSON Web Tokens (RFC 7519) from one issuer. Each grants what its claims say. */
export class TokenVerifier {
  /** The keys that verify tokens. The verifier's owner must stop the source. */
  readonly source: TokenSource;
  readonly #options: TokenVerifierOptions;
  readonly #verified = new BoundedMap<string, KeyGrant>(MAX_VERIFIED);
  /** Monotonic times when tokens were first used. */
  readonly #asked = new BoundedMap<string, number>(MAX_ASKED);

  constructor(options: TokenVerifierOptions) {
    this.source = options.source;
    this.#options = options;
  }

  /**
   * Verifies a token, so that {@link find} returns its grant. Returns an error if it is invalid, or
   * `not-ready` if keys that are not known yet may verify it. Does not check again whether a token
   * that was verified before has expired. Never rejects.
   */
  async verify(text: string): Promise<FlarewireError | undefined> {
    if (this.find(text)) return undefined;
    const id = hashOf(text);
    return this.#judge(id, async () => {
      const { alg, kid } = decodeProtectedHeader(text);
      this.#verified.set(id, await this.#check(text, this.#candidates(alg, kid)));
    });
  }

  /** Like {@link verify}, for a grant that another process may have verified with newer keys. */
  verifyGrant(grant: KeyGrant): Promise<FlarewireError | undefined> {
    return this.#judge(`key ${grant.signer}`, async () => {
      if (!this.isSignerTrusted(grant)) throw new UnknownKeyError("the issuer withdrew its key");
    });
  }

  /** Returns what a verified token grants, even if it has expired, while its signer is trusted. */
  find(text: string): KeyGrant | undefined {
    const grant = this.#verified.get(hashOf(text));
    return grant && this.isSignerTrusted(grant) ? grant : undefined;
  }

  /** Whether the key that signed the token is still in use; `undefined` if there are no keys. */
  isSignerTrusted({ signer }: Pick<KeyGrant, "signer">): boolean | undefined {
    return this.source.keys?.some(({ fingerprint }) => fingerprint === signer);
  }

  /** Returns the keys that may have signed a token whose header has this `alg` and `kid`. */
  #candidates(algorithm: string | undefined, kid: string | undefined): readonly TokenKey[] {
    const { keys = [] } = this.source;
    const usable = keys.filter((key) => key.algorithm === algorithm);
    const named = kid === undefined ? [] : usable.filter((key) => key.kid === kid);
    return named.length > 0 ? named : usable.filter((key) => kid === undefined || key.kid === undefined);
  }

  /** Rejects what no key verifies only if the keys were read after its first use. */
  async #judge(id: string, check: () => Promise<void>): Promise<FlarewireError | undefined> {
    const { source } = this;
    await source.loaded();
    const asked = this.#asked.ensure(id, () => this.#options.clock.monotonic());
    for (const isLast of [false, true]) {
      try {
        await check();
        return undefined;
      } catch (error) {
        if (!(error instanceof UnknownKeyError)) return invalid(error);
        if (!isLast) await source.refresh();
        else if (source.readMs >= asked) return invalid(error);
      }
    }
    return new FlarewireError("not-ready", source.keys ? UNKNOWN : UNAVAILABLE);
  }

  async #check(text: string, candidates: readonly TokenKey[]): Promise<KeyGrant> {
    const { issuer, audience, clock } = this.#options;
    if (candidates.length === 0)
      throw new UnknownKeyError("the issuer has no key that matches its alg and kid");
    for (const { key, algorithm, fingerprint } of candidates) {
      try {
        const { payload } = await jwtVerify(text, key, {
          algorithms: [algorithm],
          issuer,
          audience,
          requiredClaims: ["exp", "sub"],
          clockTolerance: CLOCK_TOLERANCE_S,
          currentDate: new Date(clock.now()),
        });
        return grantOf(payload, issuer, fingerprint);
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    throw new UnknownKeyError("its signature matches none of the issuer's keys");
  }
}

function grantOf(payload: JWTPayload, issuer: string, signer: string): KeyGrant {
  const claims = Claims.safeParse(payload);
  if (!claims.success) throw new Error(`its claim ${String(claims.error.issues[0]?.path[0])} is invalid`);
  const { sub, exp, name = sub, ...rest } = claims.data;
  return {
    ...rest,
    id: `sub_${hashOf(JSON.stringify([issuer, sub])).slice(0, 16)}`,
    name: name.replace(/\p{Cc}/gu, "").slice(0, MAX_NAME),
    expires_at: new Date(exp * 1_000).toISOString(),
    signer,
  };
}

/** Returns a lookup that finds verified tokens as well as keys. */
export function withTokens(
  keys: KnownKeys,
  tokens: Pick<TokenVerifier, "find" | "isSignerTrusted" | "verify" | "verifyGrant">,
): KnownKeys {
  return {
    find: (text) => (isToken(text) ? tokens.find(text) : keys.find(text)),
    get: (ref) => {
      const grant = grantIn(ref);
      return grant && tokens.isSignerTrusted(grant) ? grant : keys.get(ref);
    },
    verify: (asked) => {
      if ("text" in asked) return isToken(asked.text) ? tokens.verify(asked.text) : keys.verify(asked);
      const grant = grantIn(asked.ref);
      return grant ? tokens.verifyGrant(grant) : keys.verify(asked);
    },
  };
}

function hashOf(text: string): string {
  return digestOf(text).toString("base64url");
}

function invalid(error: unknown): FlarewireError {
  return new FlarewireError("unauthorized", `invalid token: ${reasonOf(error)}`, { field: "Authorization" });
}

/** Describes why a token is invalid, without quoting it. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "nbf" && error.reason === "check_failed") return "it is not yet valid (nbf)";
    if (error.reason === "check_failed") return `its claim ${error.claim} does not match this server`;
    return `its claim ${error.claim} is ${error.reason}`;
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) return "it is malformed";
  return error instanceof Error ? error.message : "it is malformed";
}
