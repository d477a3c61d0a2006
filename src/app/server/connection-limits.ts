import type { openFiles } from "../../base/lib/io/open-files.ts";
import type { ConnectionBounds } from "../../gateway/http/index.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";

/** Connections reserved for REST requests and idle keep-alive connections. */
const SPARE = 1_024;
const SPARE_PER_ADDRESS = 256;
/** Maximum share of all connections that is reserved if the limit of open files is low. */
const SPARE_SHARE = 1 / 8;
/** File descriptors reserved for the log, recordings and upstream services. */
const RESERVED_FILES = 64;

/**
 * Computes the limits. If too few files may be open, lowers them and calls `warn`. `files` is
 * `undefined` if unknown; then nothing is lowered. `maxSockets`, for streams and polls, leaves
 * connections for health checks and REST.
 */
export function connectionLimits(
  { maxSockets, maxSocketsPerIp }: Pick<GatewaySettings, "maxSockets" | "maxSocketsPerIp">,
  files: ReturnType<typeof openFiles>,
  warn: (message: string) => void,
): ConnectionBounds & Pick<GatewaySettings, "maxSockets"> {
  const wanted = maxSockets + SPARE;
  const perAddress = maxSocketsPerIp + SPARE_PER_ADDRESS;
  const room = files ? Math.max(1, files.limit - files.open - RESERVED_FILES) : Number.POSITIVE_INFINITY;
  if (room >= wanted) return { maxSockets, maxConnections: wanted, maxConnectionsPerAddress: perAddress };
  const needed = wanted + RESERVED_FILES + (files?.open ?? 0);
  const spare = Math.min(SPARE, Math.ceil(room * SPARE_SHARE));
  const streams = Math.min(maxSockets, Math.max(1, room - spare));
  warn(
    `maxSockets ${maxSockets} needs ${needed} open files and the limit is ${files?.limit}, so at most ${streams} streams and ${room} connections are accepted; raise the limit (ulimit -n, LimitNOFILE) or lower --max-sockets`,
  );
  return {
    maxSockets: streams,
    maxConnections: room,
    maxConnectionsPerAddress: Math.min(perAddress, Math.ceil(room / 2)),
  };
}
