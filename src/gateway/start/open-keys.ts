import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import {
  type AccessPolicy,
  Audit,
  allowAll,
  ConnectionLimiter,
  ConnectionRegistry,
  createLocalState,
  KeyAccessPolicy,
  type KeyCounts,
  type SharedState,
} from "../http/index.ts";
import {
  type EndReason,
  isExpired,
  type Key,
  KeyRing,
  KeyUses,
  type KnownKeys,
  knownKeys,
  type TokenVerifier,
  withTokens,
} from "../keys/index.ts";
import type { GatewaySettings } from "../settings/index.ts";
import { openTokens, type TokenConfig } from "./open-tokens.ts";

/** The access policy and the connection registry, which follow the key file and the token keys. */
export interface Keys {
  readonly policy: AccessPolicy;
  readonly registry: ConnectionRegistry;
  stop(): void;
  /** Resolves when a check of the key file that is in progress is done. */
  looked(): Promise<void>;
  /** The problem with the key file or the token keys as public text, without paths. */
  readonly trouble?: string | undefined;
  /** The key file's keys, expired ones too; `undefined` without a key file. */
  readonly list: () => readonly Key[] | undefined;
  /** Counts of requests by key; `undefined` without keys. */
  readonly counts?: KeyCounts | undefined;
  /** Whether the key file and the token keys are current. Absent if there are none. */
  readonly isFileUsable?: () => boolean;
}

const TROUBLE = "key file is invalid; the previous keys stay in use, and changes to the file have no effect";

interface KeyParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The edge's key for its leader. An edge that has one, but no key file and no tokens, logs a
   * warning.
   */
  readonly leaderKey?: string | undefined;
  /** State that gateways share. Default: this process's own. */
  readonly state?: SharedState | undefined;
}

const OPEN_EDGE =
  "this edge has no key file: it serves its leader's pro plan to everyone who can reach it; start it with --keys FILE to serve pro to keys only";

/** How often to look for connections whose token is no longer valid. */
const LOOK_MS = 1_000;

interface AccessParts {
  readonly clock: Clock;
  /** The keys; `undefined` without a key file. */
  readonly ring: KnownKeys | undefined;
  readonly tokens?: TokenVerifier | undefined;
  readonly state: SharedState;
  /** Receives the audit of a server with keys. Default: none. */
  readonly logger?: Logger | undefined;
  /** Receives the id of a key in the file at each use. Default: none. */
  readonly onUsed?: ((id: string) => void) | undefined;
}

/**
 * Creates one process's access policy and connection registry. Without keys and tokens, everyone
 * has full access.
 */
export function createAccess(
  {
    anonymous,
    maxSockets,
    maxSocketsPerIp,
  }: Pick<GatewaySettings, "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, ring: file, tokens, state, logger, onUsed }: AccessParts,
) {
  const { tickets } = state;
  const limiter = new ConnectionLimiter(maxSockets, maxSocketsPerIp);
  const registry = new ConnectionRegistry(
    limiter,
    (ticket) => tickets.spend(ticket),
    (client) => state.claim(client),
  );
  const onCounted = (keyId: string) => state.count(keyId);
  const ring = tokens ? withTokens(file ?? knownKeys([]), tokens) : file;
  const audit = logger && new Audit(clock, logger);
  const policy =
    ring &&
    new KeyAccessPolicy({
      ...{ ring, tokens, clock, anonymous, tickets, onCounted, onUsed, audit },
    });
  const endInvalid = (now: number) =>
    limiter.endInvalid(
      (key) => key.signer === undefined || (!isExpired(key, now) && tokens?.isSignerTrusted(key) === true),
    );
  const stopLooking = tokens && clock.every(LOOK_MS, () => endInvalid(clock.now()));
  state.onClaimed((client) => registry.supersede(client));
  state.onCounted((keyId, requests) => policy?.countElsewhere(keyId, requests));
  return {
    policy: policy ?? allowAll,
    registry,
    counts: policy?.counts,
    /** Closes the connections of a key that was removed, replaced or downgraded, or has expired. */
    end: (keyId: string, reason: EndReason) => {
      if (reason === "unauthorized") policy?.forget(keyId);
      limiter.endAll(keyId, reason);
    },
    /** Stops checking connections for invalid tokens, and stops following the token keys. */
    stop: () => {
      stopLooking?.();
      tokens?.source.stop();
    },
  };
}

/**
 * Opens the access policy. It closes the connections of a key that is removed, replaced or
 * downgraded, or expires. Rejects if the key file or the tokens' settings are unusable.
 */
export async function openKeys(
  config: Pick<GatewaySettings, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp"> & TokenConfig,
  { clock, logger, leaderKey, state: given }: KeyParts,
): Promise<Keys> {
  const { keys: file, anonymous } = config;
  const tokens = await openTokens(config, { clock, logger });
  const state = given ?? createLocalState(clock);
  const notify = notifyLog(logger);
  let ring: KeyRing | undefined;
  let uses: KeyUses | undefined;
  if (file === undefined) {
    if (leaderKey !== undefined && !tokens) logger.warn(OPEN_EDGE);
  } else {
    ring = await KeyRing.open({
      ...{ file, clock, notify },
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
    ...((ring || tokens) && { isFileUsable: () => keys.trouble === undefined }),
    get trouble() {
      const troubles = [ring?.isStale ? TROUBLE : undefined, tokens?.source.trouble];
      return troubles.filter((trouble) => trouble !== undefined).join("; ") || undefined;
    },
  };
  return keys;
}
