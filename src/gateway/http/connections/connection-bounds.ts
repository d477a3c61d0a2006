import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/time/clock.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { clientOf } from "../access/client-address.ts";
import type { Refusals } from "../access/refusals.ts";
import { destroyAfter, rawProblem } from "../problems/client-error.ts";
import { retryAfterS } from "../problems/problem.ts";
import { createIntake, ignore } from "./intake.ts";
import { closeIdleConnections } from "./node-internals.ts";

/** Limits on connections of any kind, idle ones included; Infinity for no limit. */
export interface ConnectionBounds {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/**
 * How long a refused client may take to read the response, and how many may do so at once. The
 * connections of further ones are destroyed without a response.
 */
const LINGER = { ms: 1_000, max: 32 };
/**
 * Minimum time between two searches of a full server for connections to close, and how long a new
 * connection may send nothing.
 */
const CHECK_IDLE_MS = 1_000;

/**
 * Refuses connections beyond the limits with 503, without reading their requests. A full server
 * also closes idle connections, which clients reopen on demand, and refuses those that have sent
 * nothing for a second. `isTrusted`: whether an address is a proxy of many clients; `perTurn`: see
 * createIntake; `unheard`: see boundClosing. Call it first: throws TypeError if the server has
 * other connection listeners than Node's.
 */
export function boundConnections(
  server: Server,
  { maxConnections, maxConnectionsPerAddress }: ConnectionBounds,
  parts: {
    readonly clock: Clock;
    readonly refusals: Refusals;
    readonly isTrusted: (address: string) => boolean;
    readonly perTurn: () => number;
    readonly unheard: ReadonlyMap<Socket, number>;
  },
): void {
  const { clock, refusals, isTrusted, perTurn, unheard } = parts;
  const counts = new Map<string, number>();
  const addresses = new Map<Socket, string>();
  let [lingering, idleClosedAtMs] = [0, Number.NEGATIVE_INFINITY];
  // One function for all: a closure for each of ten thousand idle clients would cost memory.
  function leave(this: Socket): void {
    const address = addresses.get(this) ?? "";
    addresses.delete(this);
    const count = (counts.get(address) ?? 0) - 1;
    if (count > 0) counts.set(address, count);
    else counts.delete(address);
  }
  const refuse = (socket: Socket, address: string, reason: "connections" | "connections-of-address") => {
    refusals.count(reason, address);
    if (lingering >= LINGER.max) return socket.destroy();
    lingering += 1;
    socket.once("close", () => (lingering -= 1));
    const bound =
      reason === "connections" ? `${maxConnections} in all` : `${maxConnectionsPerAddress} from one address`;
    const error = new FlarewireError("over-capacity", `too many open connections: ${bound}`, { bound });
    // An error on a refused connection needs no action, and its request is not read.
    socket.on("error", ignore).removeAllListeners("readable").removeAllListeners("timeout").resume();
    socket.end(rawProblem(error, randomUUID(), [`Retry-After: ${retryAfterS()}`]));
    destroyAfter(LINGER.ms, socket, clock);
  };
  const closeIdle = () => {
    const nowMs = clock.monotonic();
    if (nowMs - idleClosedAtMs < CHECK_IDLE_MS) return;
    idleClosedAtMs = nowMs;
    closeIdleConnections(server, unheard.keys());
    for (const [socket, acceptedAtMs] of unheard) {
      const address = addresses.get(socket);
      if (address === undefined || nowMs - acceptedAtMs < CHECK_IDLE_MS) continue;
      if (socket.bytesRead === 0 && socket.writable) refuse(socket, address, "connections");
    }
  };
  const [serve, ...others] = server.rawListeners("connection");
  if (!serve || others.length > 0)
    throw new TypeError("the server has other connection listeners than Node's");
  const take = createIntake((socket) => serve.call(server, socket), clock, perTurn);
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const peer = socket.remoteAddress ?? "";
    const address = clientOf(peer);
    const count = counts.get(address) ?? 0;
    if (addresses.size >= maxConnections) {
      // First, because those that closeIdle refuses may take all places to linger.
      refuse(socket, address, "connections");
      return closeIdle();
    }
    if (count >= maxConnectionsPerAddress && !isTrusted(peer))
      return refuse(socket, address, "connections-of-address");
    counts.set(address, count + 1);
    // Not once(), which would add a closure for each client.
    addresses.set(socket.on("close", leave), address);
    take(socket, address);
  });
}
