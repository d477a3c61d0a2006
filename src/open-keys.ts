import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { type Door, KeyDoor, openDoor, Places, Seats } from "./http/index.ts";
import { KeyRing } from "./keys/index.ts";
import type { WallClock } from "./lib/clock.ts";

/** Who decides what a client may have, the places that there are, and how to stop following the file of keys. */
export interface Keys {
  readonly door: Door;
  readonly places: Places;
  stop(): void;
  /** Resolves when the look at the file that is under way, if there is one, is over. */
  looked(): Promise<void>;
}

/**
 * The door that the config asks for. Of a key that does not count any more, or for less, all that is open is ended within a second or so. Rejects with
 * InputError when the file of keys cannot be used: a server that was to have keys does not start without.
 */
export async function openKeys(
  config: Pick<Config, "keys" | "anonymous" | "maxSockets" | "maxSocketsPerIp">,
  { clock, logger }: { readonly clock: WallClock; readonly logger: Logger },
): Promise<Keys> {
  const { keys: file, anonymous } = config;
  const seats = new Seats(config.maxSockets, config.maxSocketsPerIp);
  const places = new Places(seats);
  if (file === undefined) return { door: openDoor, places, stop: () => {}, looked: async () => {} };
  const ring = await KeyRing.open({
    file,
    clock,
    onReload: (change) => logger.info({ file, ...change }, "the keys were read anew"),
    onTrouble: (error) => {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error({ reason }, "the file of keys cannot be used; the keys of before go on");
    },
    onEnd: (id, reason) => {
      logger.info({ keyId: id, reason }, "the connections of a key are closed");
      if (reason === "unauthorised") door.forget(id);
      seats.endAll(id, reason);
    },
  });
  const door = new KeyDoor({ ring, clock, anonymous });
  logger.info({ file, keys: ring.size, anonymous }, "keys are known");
  return { door, places, stop: () => ring.stop(), looked: () => ring.looked() };
}
