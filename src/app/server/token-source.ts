import { messageOf } from "../../base/lib/text/message-of.ts";
import { DAY_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { requestJson } from "../../feeds/index.ts";
import type { TokenConfig, TokenKey, TokenSource, TokenSourceOptions } from "../../gateway/keys/index.ts";
import { FollowedFiles } from "../../gateway/keys/index.ts";
import { jwkSetKeys, MAX_KEYS_BYTES, readTokenKeys } from "./token-keys.ts";

/** How often the key set is fetched. */
export const REFRESH_MS = 5 * MINUTE_MS;
/** Minimum time between two attempts, after a failure or when a token names an unknown key. */
export const RETRY_MS = 30_000;
/** How long the keys from the last successful fetch stay valid while fetches fail. */
export const MAX_AGE_MS = DAY_MS;
const TIMEOUT_MS = 5_000;

/** Opens the keys that the settings name. Rejects with InputError if a file of keys is invalid. */
export async function openTokenSource(
  { jwtKey, jwksUrl }: TokenConfig,
  options: TokenSourceOptions,
): Promise<TokenSource> {
  return jwksUrl === undefined
    ? await openTokenFile(jwtKey ?? "", options)
    : new TokenKeySet(jwksUrl, options);
}

/** Follows a file of token keys, which verify tokens. Rejects with InputError if it is invalid. */
async function openTokenFile(file: string, { clock, notify }: TokenSourceOptions): Promise<TokenSource> {
  const opened = await FollowedFiles.open({
    files: [file],
    clock,
    read: () => readTokenKeys(file),
    onChange: (value) => {
      keys = value;
      notify("info", "reloaded the token keys", { file, keys: value.length });
    },
    onInvalid: (error) =>
      notify("error", "file of token keys is invalid; keeping the previous keys", {
        reason: messageOf(error),
      }),
  });
  const { files } = opened;
  let keys = opened.value;
  let readMs = clock.monotonic();
  return {
    get keys() {
      return keys;
    },
    get trouble() {
      return files.isStale ? "the file of token keys is invalid; the previous keys stay in use" : undefined;
    },
    get readMs() {
      return readMs;
    },
    retryMs: 0,
    loaded: () => files.looked(),
    refresh: async () => {
      // A look in progress may have missed a change.
      await files.looked();
      const beganMs = clock.monotonic();
      if (await files.look()) readMs = beganMs;
    },
    stop: () => files.stop(),
  };
}

/** The keys of a JWK set at a URL, fetched regularly. */
export class TokenKeySet implements TokenSource {
  readonly #url: string;
  readonly #options: TokenSourceOptions;
  readonly #fetch: typeof fetch;
  readonly #stopped = new AbortController();
  readonly #stopTimer: () => void;
  #keys: readonly TokenKey[] | undefined;
  #etag: string | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time of the last attempt. */
  #triedMs = Number.NEGATIVE_INFINITY;
  /** Why the last attempt failed; `undefined` if it succeeded, and before the first one ends. */
  #failure: string | undefined;
  /** The last reported trouble. */
  #reported: string | undefined;
  #fetching: Promise<void> | undefined;

  /** Starts fetching. Never throws; tokens cannot be verified until a fetch succeeds. */
  constructor(url: string, parts: TokenSourceOptions, request: typeof fetch = fetch) {
    this.#url = url;
    this.#options = parts;
    this.#fetch = request;
    this.#stopTimer = parts.clock.every(RETRY_MS, () => void this.#renew());
    void this.#start();
  }

  get keys(): readonly TokenKey[] | undefined {
    return this.#keys;
  }

  get trouble(): string | undefined {
    if (this.#failure === undefined) return undefined;
    return this.keys
      ? "the JWK set is unavailable or has no usable key; the previous keys stay in use"
      : "the JWK set is unavailable or has no usable key; tokens are rejected";
  }

  get readMs(): number {
    return this.#readMs;
  }

  get retryMs(): number {
    return Math.max(0, this.#triedMs + RETRY_MS - this.#options.clock.monotonic());
  }

  async loaded(): Promise<void> {
    if (!this.#keys) await this.#fetching;
  }

  refresh(): Promise<void> {
    return this.retryMs > 0 ? (this.#fetching ?? Promise.resolve()) : this.#start();
  }

  stop(): void {
    this.#stopTimer();
    this.#stopped.abort();
  }

  async #renew(): Promise<void> {
    const ageMs = this.#options.clock.monotonic() - this.#readMs;
    if (ageMs >= MAX_AGE_MS && this.#keys) this.#accept(undefined, undefined);
    if (this.retryMs > 0) return;
    if (this.#failure !== undefined || ageMs >= REFRESH_MS) await this.#start();
  }

  #start(): Promise<void> {
    this.#fetching ??= this.#load().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #load(): Promise<void> {
    const { clock, notify } = this.#options;
    this.#triedMs = clock.monotonic();
    const failure = await this.#attempt().catch((error: unknown) => messageOf(error));
    if (this.#stopped.signal.aborted) return;
    if (failure === undefined) this.#readMs = this.#triedMs;
    this.#failure = failure;
    const { trouble } = this;
    if (trouble === this.#reported) return;
    this.#reported = trouble;
    const facts = { url: this.#url, keys: this.keys?.length ?? 0 };
    if (trouble === undefined) notify("info", "the JWK set is available", facts);
    else notify("error", trouble, { ...facts, reason: failure });
  }

  /** Fetches the set once. Returns or throws the reason for a failure. */
  async #attempt(): Promise<string | undefined> {
    const settings = {
      fetch: this.#fetch,
      clock: this.#options.clock,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_KEYS_BYTES,
    };
    const answer = await requestJson(this.#url, this.#etag, settings, this.#stopped.signal);
    if (answer.kind === "unchanged") return undefined;
    if (answer.kind !== "fresh") return answer.failure.reason;
    const keys = jwkSetKeys(answer.body, { allowsSecrets: false });
    this.#accept(keys, answer.etag);
    return undefined;
  }

  #accept(keys: readonly TokenKey[] | undefined, etag: string | undefined): void {
    this.#keys = keys;
    this.#etag = etag;
    if (!keys) this.#readMs = Number.NEGATIVE_INFINITY;
  }
}
