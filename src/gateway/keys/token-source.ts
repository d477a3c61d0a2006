import type { KeyObject } from "node:crypto";
import type { Notify } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { GatewaySettings } from "../settings/index.ts";

/** Accepted algorithms. The key's type decides which one is used, never the token. */
type TokenAlgorithm = "HS256" | "RS256" | "ES256";

/** A key that verifies tokens. */
export interface TokenKey {
  readonly algorithm: TokenAlgorithm;
  readonly key: KeyObject;
  /** The key's id in its set, which a token's header may state. */
  readonly kid: string | undefined;
  /** Identifies the key. */
  readonly fingerprint: string;
}

/** Where the keys that verify tokens come from. */
export interface TokenSource {
  /** `undefined` while there are none; tokens cannot be verified then. */
  readonly keys: readonly TokenKey[] | undefined;
  /** The current problem, in words that clients may see; `undefined` if there is none. */
  readonly trouble: string | undefined;
  /** Monotonic time when the last successful read began; `-Infinity` if there are no keys. */
  readonly readMs: number;
  /** Milliseconds until {@link refresh} reads the keys again. */
  readonly retryMs: number;
  /** Resolves when there are keys, or when the attempt in progress, if any, ends. */
  loaded(): Promise<void>;
  /**
   * Rereads the keys. Call it when none verifies a token. A URL is not fetched again within 30 s of
   * the last attempt. Never rejects.
   */
  refresh(): Promise<void>;
  stop(): void;
}

/** The settings of tokens. */
export type TokenConfig = Partial<Pick<GatewaySettings, "jwtKey" | "jwksUrl" | "jwtIssuer" | "jwtAudience">>;

export interface TokenSourceOptions {
  readonly clock: Clock;
  readonly notify: Notify;
}

/** Opens the source that the settings name. Rejects with InputError if it is unusable. */
export type OpenTokenSource = (config: TokenConfig, options: TokenSourceOptions) => Promise<TokenSource>;
