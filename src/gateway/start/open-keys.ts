import type { Logger } from "pino";
import type { Clock } from "../../base/lib/time/clock.ts";
import type { AccessPolicy, ConnectionRegistry, KeyCounts, SharedState } from "../http/index.ts";
import { allowAll, createLocalState, createRegistry } from "../http/index.ts";
import type { Key } from "../keys/key-file.ts";
import type { OpenTokenSource, TokenConfig } from "../keys/token-source.ts";
import type { GatewaySettings } from "../settings/index.ts";

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

/** The settings of {@link openKeys}. */
export type KeyConfig = Pick<GatewaySettings, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp"> &
  TokenConfig;

interface KeyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The edge's key for its leader. An edge that has one, but no key file and no tokens, logs a
   * warning.
   */
  readonly leaderKey?: string | undefined;
  /** Opens the keys that verify tokens. */
  readonly openTokenSource?: OpenTokenSource | undefined;
  /** State that gateways share. Default: this process's own. */
  readonly state?: SharedState | undefined;
}

const OPEN_EDGE =
  "this edge has no key file: it serves its leader's pro plan to everyone who can reach it; start it with --keys FILE to serve pro to keys only";

/**
 * Opens the access policy. It closes the connections of a key that is removed, replaced or
 * downgraded, or expires. Without keys and tokens, everyone has full access. Rejects if the key
 * file or the tokens' settings are unusable.
 */
export async function openKeys(
  config: KeyConfig,
  { clock, logger, leaderKey, openTokenSource, state = createLocalState(clock) }: KeyOptions,
): Promise<Keys> {
  if (config.keys !== undefined || (config.jwtIssuer !== undefined && config.jwtAudience !== undefined)) {
    const { openKeyedAccess } = await import("./keyed-access.ts");
    return await openKeyedAccess(config, { clock, logger, openTokenSource, state });
  }
  if (leaderKey !== undefined) logger.warn(OPEN_EDGE);
  return {
    policy: allowAll,
    registry: createRegistry(config, state),
    list: () => undefined,
    stop: () => {},
    looked: async () => {},
  };
}
