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
import type { Clock } from "../../lib/time/clock.ts";

/** Who decides what a client may have, the places that there are, and how to stop following the file of keys. */
export interface Keys {
  readonly door: AccessPolicy;
  readonly places: SlotAllocator;
  stop(): void;
  /** Resolves when the look at the file that is under way, if there is one, is over. */
  looked(): Promise<void>;
  /** What is wrong with the key file, in words for everybody: without paths. `undefined` while nothing is. */
  readonly trouble?: string | undefined;
  /** Left out where there is no key file, or another process has it. */
  readonly isFileUsable?: () => boolean;
}

/** Keys of which this process has all: those of the file, the tickets in their name, and every place. */
export interface OwnKeys extends Keys {
  readonly places: ConnectionRegistry;
  readonly tickets: TicketTable;
  /** Those that count now, each without its secret; `undefined` where the server knows no keys. */
  readonly list: () => readonly Key[] | undefined;
  /** See KeyDoor: of all processes, where others serve and say what they count. */
  readonly rates: Pick<KeyAccessPolicy, "countElsewhere" | "spent">;
  /** Told of each new version of the file that counts, before anything is ended for it. */
  onReload: (change: KeyChange) => void;
  /** Told of each key that does not count any more, or for less. */
  onEnd: (id: string, reason: EndReason) => void;
}

const TROUBLE =
  "the key file cannot be used: the keys read before still count, and changes to the file do not";

const NO_RATES = { countElsewhere: () => {}, spent: [] } as const;

/** What {@link openKeys} works with. */
export interface KeyParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of an edge, the key that it shows its leader: what the leader gives for it, the edge serves. */
  readonly leaderKey?: string | undefined;
}

const OPEN_EDGE =
  "this edge has no key file: it serves the plan pro of its leader, for which it has a key, to everyone who reaches it; start it with --keys FILE to serve pro to keys only";

/**
 * The door that the config asks for. Of a key that does not count any more, or for less, all that is open is ended within a second or so. Rejects with
 * InputError when the file of keys cannot be used: a server that was to have keys does not start without.
 */
export async function openKeys(
  config: Pick<Config, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, logger, leaderKey }: KeyParts,
): Promise<OwnKeys> {
  const { keys: file, anonymous } = config;
  const seats = new ConnectionLimiter(config.maxSockets, config.maxSocketsPerIp);
  const tickets = new TicketTable(clock);
  const places = new ConnectionRegistry(seats, (ticket) => tickets.spend(ticket));
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
      logger.info({ file, ...change }, "the keys were read anew");
      keys.onReload(change);
    },
    onTrouble: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ reason }, "the file of keys cannot be used; the keys of before go on");
    },
    onEnd: (id, reason) => {
      logger.info({ keyId: id, reason }, "the connections of a key are closed");
      if (reason === "unauthorized") door.forget(id);
      seats.endAll(id, reason);
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
  logger.info({ file, keys: ring.size, anonymous }, "keys are known");
  return keys;
}
