import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { FlarewireError } from "../../base/protocol/index.ts";
import { KeyAccessPolicy } from "../http/access/key-access-policy.ts";
import { Audit } from "../http/connections/audit.ts";
import { createRegistry, type SharedState } from "../http/index.ts";
import { isExpired } from "../keys/key-file.ts";
import { type EndReason, KeyRing, type KnownKeys, knownKeys } from "../keys/key-ring.ts";
import { KeyUses } from "../keys/key-uses.ts";
import type { OpenTokenSource, TokenConfig } from "../keys/token-source.ts";
import { TokenVerifier, withTokens } from "../keys/token-verifier.ts";
import type { GatewaySettings } from "../settings/index.ts";
import type { KeyConfig, Keys } from "./open-keys.ts";

const TROUBLE = "key file is invalid; the previous keys stay in use, and changes to the file have no effect";

/** How often to look for connections whose token is no longer valid. */
const LOOK_MS = 1_000;

interface AccessOptions {
  readonly clock: Clock;
  /** The keys; `undefined` without a key file. */
  readonly ring: KnownKeys | undefined;
  readonly tokens?: TokenVerifier | undefined;
  readonly state: SharedState;
  /** Receives the audit. Default: none. */
  readonly logger?: Logger | undefined;
  /** Receives the id of a key in the file at each use. Default: none. */
  readonly onUsed?: ((id: string) => void) | undefined;
}

/** Creates one process's access policy and connection registry for keys, tokens or both. */
export function createAccess(
  config: Pick<GatewaySettings, "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, ring: file = knownKeys([]), tokens, state, logger, onUsed }: AccessOptions,
) {
  const registry = createRegistry(config, state);
  const { limiter } = registry;
  const policy = new KeyAccessPolicy({
    ring: tokens ? withTokens(file, tokens) : file,
    tokenSource: tokens?.source,
    clock,
    anonymous: config.anonymous,
    tickets: state.tickets,
    onCounted: (keyId) => state.count(keyId),
    onUsed,
    audit: logger && new Audit(clock, logger),
  });
  const endInvalid = (now: number) =>
    limiter.endInvalid(
      (key) => key.signer === undefined || (!isExpired(key, now) && tokens?.isSignerTrusted(key) !== false),
    );
  const stopLooking = tokens && clock.every(LOOK_MS, () => endInvalid(clock.now()));
  state.onCounted((keyId, requests) => policy.countElsewhere(keyId, requests));
  return {
    policy,
    registry,
    counts: policy.counts,
    /** Closes the connections of a key that was removed, replaced or downgraded, or has expired. */
    end: (keyId: string, reason: EndReason) => {
      if (reason === "unauthorized") policy.forget(keyId);
      limiter.endAll(keyId, reason);
    },
    /** Stops checking connections for invalid tokens, and stops following the token keys. */
    stop: () => {
      stopLooking?.();
      tokens?.source.stop();
    },
  };
}

type OpenOptions = Pick<AccessOptions, "clock" | "state"> & {
  readonly logger: Logger;
  readonly openTokenSource: OpenTokenSource | undefined;
};

/** Opens the access of a gateway with a key file, tokens or both. Rejects like `openKeys`. */
export async function openKeyedAccess(config: KeyConfig, options: OpenOptions): Promise<Keys> {
  const { clock, logger, state } = options;
  const { keys: file, anonymous } = config;
  const tokens = await openTokens(config, options);
  const notify = notifyLog(logger);
  let ring: KeyRing | undefined;
  let uses: KeyUses | undefined;
  if (file !== undefined) {
    ring = await KeyRing.open({
      file,
      clock,
      notify,
      onReload: (change) => logger.info({ file, ...change }, "reloaded the key file"),
      onEnd: (id, reason) => {
        logger.info({ keyId: id, reason }, "closing the connections of a key");
        access.end(id, reason);
      },
    });
    uses = new KeyUses({ file, clock, notify, isKnown: (id) => ring?.get(id) !== undefined });
    logger.info({ file, keys: ring.keys.length, anonymous }, "loaded the key file");
  }
  const onUsed = (id: string) => uses?.note(id);
  const access = createAccess(config, { clock, state, ring, tokens, logger, onUsed });
  const keys: Keys = {
    ...access,
    list: () => ring?.keys,
    stop: () => {
      access.stop();
      ring?.stop();
      uses?.stop();
    },
    looked: async () => ring?.looked(),
    isFileUsable: () => keys.trouble === undefined,
    get trouble() {
      const troubles = [ring?.isStale ? TROUBLE : undefined, tokens?.source.trouble];
      return troubles.filter((trouble) => trouble !== undefined).join("; ") || undefined;
    },
  };
  return keys;
}

/** Opens the verifier of tokens; `undefined` without settings. Rejects if a file is invalid. */
async function openTokens(
  config: TokenConfig,
  { clock, logger, openTokenSource }: OpenOptions,
): Promise<TokenVerifier | undefined> {
  const { jwtIssuer: issuer, jwtAudience: audience } = config;
  if (issuer === undefined || audience === undefined) return undefined;
  if (!openTokenSource) throw new FlarewireError("invalid-setting", "this gateway does not accept tokens");
  const source = await openTokenSource(config, { clock, notify: notifyLog(logger) });
  return new TokenVerifier({ source, issuer, audience, clock });
}
