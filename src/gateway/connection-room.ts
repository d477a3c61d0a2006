import type { Config } from "../config/config.ts";
import type { ConnectionBounds } from "../http/index.ts";
import type { openFiles } from "../lib/io/open-files.ts";

/** Connections beside streams and polls: REST requests and idle keep-alive connections. */
const SPARE = 1_024;
const SPARE_PER_ADDRESS = 256;
/** File descriptors reserved for the log, recordings and upstream services. */
const RESERVED_FILES = 64;
/** Margin above a worker's equal share: connections are distributed by count, not by address. */
const WORKER_MARGIN = 1.5;

/**
 * Computes how many connections this process accepts. If the limit on open files is too low for the
 * config, calls `warn` and allows one address at most half of the total.
 */
export function connectionLimits(
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
