import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import {
  type AccessPolicy,
  allowAll,
  ConnectionLimiter,
  ConnectionRegistry,
  createLocalState,
  KeyAccessPolicy,
  type SharedState,
} from "../../http/index.ts";
import {
  type EndReason,
  type Key,
  type KeyChange,
  KeyRing,
  type KnownKeys,
  type TicketTable,
} from "../../keys/index.ts";
import { notifyLog } from "../../lib/notify.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Access policy, connection registry and the watch of the key file. */
export interface Keys {
  readonly policy: AccessPolicy;
  readonly registry: ConnectionRegistry;
  stop(): void;
  /** Resolves when the check of the file that is in progress, if any, is done. */
  looked(): Promise<void>;
  /** The problem with the key file as public text, without paths. */
  readonly trouble?: string | undefined;
  /** Absent if there is no key file or another process reads it. */
  readonly isFileUsable?: () => boolean;
}

/** Keys of the process that owns them: the file and its tickets. */
export interface OwnKeys extends Keys {
  readonly tickets: TicketTable;
  /** Returns the valid keys without their secrets; `undefined` if the server has no key file. */
  readonly list: () => readonly Key[] | undefined;
  readonly rates: Pick<KeyAccessPolicy, "countElsewhere" | "spent">;
  /** Receives each valid new version of the file, before connections are closed for it. */
  onReload: (change: KeyChange) => void;
  /** Receives each key that was removed or downgraded. */
  onEnd: (id: string, reason: EndReason) => void;
}

const TROUBLE = "key file is invalid; the previous keys still count, and changes to the file have no effect";

const NO_RATES = { countElsewhere: () => {}, spent: [] } as const;

interface KeyParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The edge's key for its leader. The edge serves the plan that the leader grants it. */
  readonly leaderKey?: string | undefined;
  /** State that gateways share. Default: this process's own. */
  readonly state?: SharedState | undefined;
}

const OPEN_EDGE =
  "this edge has no key file: it serves the plan pro of its leader, for which it has a key, to everyone who reaches it; start it with --keys FILE to serve pro to keys only";

/** The access policy and the connection limits of one process. */
export interface LocalAccess {
  readonly policy: AccessPolicy;
  readonly registry: ConnectionRegistry;
  readonly rates: OwnKeys["rates"];
  /** Closes the connections of a key that was removed or downgraded. */
  end(keyId: string, reason: EndReason): void;
}

/** Creates one process's access policy and connection registry. Without keys, all is open. */
export function createAccess(
  { anonymous, maxSockets, maxSocketsPerIp }: Pick<Config, "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, ring, state }: { clock: Clock; ring: KnownKeys | undefined; state: SharedState },
): LocalAccess {
  const { tickets } = state;
  const limiter = new ConnectionLimiter(maxSockets, maxSocketsPerIp);
  const registry = new ConnectionRegistry(
    limiter,
    (ticket) => tickets.spend(ticket),
    (client) => state.claim(client),
  );
  const onCounted = (keyId: string) => state.count(keyId);
  const policy = ring && new KeyAccessPolicy({ ring, clock, anonymous, tickets, onCounted });
  state.onClaimed((client) => registry.supersede(client));
  state.onCounted((keyId, requests) => policy?.countElsewhere(keyId, requests));
  return {
    policy: policy ?? allowAll,
    registry,
    rates: policy ?? NO_RATES,
    end: (keyId, reason) => {
      if (reason === "unauthorized") policy?.forget(keyId);
      limiter.endAll(keyId, reason);
    },
  };
}

/** Opens the access policy. Ends a removed or downgraded key's connections. Rejects if unusable. */
export async function openKeys(
  config: Pick<Config, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, logger, leaderKey, state: given }: KeyParts,
): Promise<OwnKeys> {
  const { keys: file, anonymous } = config;
  const own = createLocalState(clock);
  const state = given ?? own;
  const shared = { tickets: own.tickets, onReload: () => {}, onEnd: () => {} };
  if (file === undefined) {
    if (leaderKey !== undefined) logger.warn(OPEN_EDGE);
    return {
      ...{ ...shared, ...createAccess(config, { clock, state, ring: undefined }) },
      ...{ list: () => undefined, stop: () => {}, looked: async () => {} },
    };
  }
  const ring = await KeyRing.open({
    file,
    clock,
    onReload: (change) => {
      logger.info({ file, ...change }, "reloaded the key file");
      keys.onReload(change);
    },
    notify: notifyLog(logger),
    onEnd: (id, reason) => {
      logger.info({ keyId: id, reason }, "closing the connections of a key");
      access.end(id, reason);
      keys.onEnd(id, reason);
    },
  });
  const access = createAccess(config, { clock, state, ring });
  const keys: OwnKeys = {
    ...{ ...shared, ...access },
    list: () => ring.keys,
    stop: () => ring.stop(),
    looked: () => ring.looked(),
    isFileUsable: () => !ring.isStale,
    get trouble() {
      return ring.isStale ? TROUBLE : undefined;
    },
  };
  logger.info({ file, keys: ring.size, anonymous }, "loaded the key file");
  return keys;
}
