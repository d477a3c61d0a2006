import type { Config } from "../config/config.ts";
import type { ConnectionBounds } from "../http/index.ts";
import type { openFiles } from "../lib/io/open-files.ts";

/** Connections beside streams and polls: requests of REST, and those that clients keep for the next one. */
const SPARE = 1_024;
const SPARE_PER_ADDRESS = 256;
/** Open files that are left for everything but clients: the log, recordings, upstream services. */
const RESERVED_FILES = 64;
/** Part by which a worker may have more than its share of the connections: they are shared out by number, not by address. */
const WORKER_MARGIN = 1.5;

/**
 * How many connections this process accepts. Where the system's limit on open files does not suffice for what the config allows, calls `warn`, and one address gets half of what
 * there is at most.
 */
export function connectionRoom(
  { maxSockets, maxSocketsPerIp, workers }: Pick<Config, "maxSockets" | "maxSocketsPerIp" | "workers">,
  files: ReturnType<typeof openFiles>,
  warn: (message: string) => void,
): ConnectionBounds {
  const share = (all: number) => (workers === 1 ? all : Math.ceil((all * WORKER_MARGIN) / workers));
  const wanted = share(maxSockets + SPARE);
  const perAddress = share(maxSocketsPerIp + SPARE_PER_ADDRESS);
  const room = files ? Math.max(1, files.limit - files.open - RESERVED_FILES) : Number.POSITIVE_INFINITY;
  if (room >= wanted) return { maxConnections: wanted, maxConnectionsPerAddress: perAddress };
  const needed = wanted + RESERVED_FILES + (files?.open ?? 0);
  warn(
    `maxSockets ${maxSockets} needs ${needed} open files and the limit is ${files?.limit}, so at most ${room} connections are accepted; raise the limit (ulimit -n, LimitNOFILE) or lower --max-sockets`,
  );
  return {
    maxConnections: room,
    maxConnectionsPerAddress: Math.min(perAddress, Math.ceil(room / 2)),
  };
}
