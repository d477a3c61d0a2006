import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import {
  type AccessPolicy,
  allowAll,
  ConnectionLimiter,
  ConnectionRegistry,
  KeyAccessPolicy,
  type SlotAllocator,
} from "../../http/index.ts";
import { type EndReason, type Key, type KeyChange, KeyRing, TicketTable } from "../../keys/index.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { Clock } from "../../lib/time/clock.ts";

/** Access policy, connection registry and the watch of the key file. */
export interface Keys {
  readonly door: AccessPolicy;
  readonly places: SlotAllocator;
  stop(): void;
  /** Resolves when the check of the file that is in progress, if any, is done. */
  looked(): Promise<void>;
  /**
   * Public description of what is wrong with the key file, without paths; `undefined` if nothing
   * is.
   */
  readonly trouble?: string | undefined;
  /** Absent if there is no key file or another process reads it. */
  readonly isFileUsable?: () => boolean;
}

/** Keys of the process that owns them: the file, its tickets and all connections. */
export interface OwnKeys extends Keys {
  readonly places: ConnectionRegistry;
  readonly tickets: TicketTable;
  /** Returns the valid keys without their secrets; `undefined` if the server has no key file. */
  readonly list: () => readonly Key[] | undefined;
  /** See KeyAccessPolicy: request counts of all processes, if workers report theirs. */
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
}

const OPEN_EDGE =
  "this edge has no key file: it serves the plan pro of its leader, for which it has a key, to everyone who reaches it; start it with --keys FILE to serve pro to keys only";

/**
 * Opens the access policy that the config asks for. Closes the connections of a removed or
 * downgraded key within about a second. Rejects with InputError when the key file cannot be used: a
 * server that should require keys does not start without them.
 */
export async function openKeys(
  config: Pick<Config, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, logger, leaderKey }: KeyParts,
): Promise<OwnKeys> {
  const { keys: file, anonymous } = config;
  const limiter = new ConnectionLimiter(config.maxSockets, config.maxSocketsPerIp);
  const tickets = new TicketTable(clock);
  const places = new ConnectionRegistry(limiter, (ticket) => tickets.spend(ticket));
  const shared = { places, tickets, onReload: () => {}, onEnd: () => {} };
  if (file === undefined) {
    if (leaderKey !== undefined) logger.warn(OPEN_EDGE);
    return {
      ...{ ...shared, door: allowAll, rates: NO_RATES },
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
    onTrouble: (error) => {
      const reason = messageOf(error);
      logger.error({ reason }, "key file is invalid; persistenceOptions the previous keys");
    },
    onEnd: (id, reason) => {
      logger.info({ keyId: id, reason }, "closing the connections of a key");
      if (reason === "unauthorized") door.forget(id);
      limiter.endAll(id, reason);
      keys.onEnd(id, reason);
    },
  });
  const door = new KeyAccessPolicy({ ring, clock, anonymous, tickets });
  const keys: OwnKeys = {
    ...{ ...shared, door, rates: door },
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
