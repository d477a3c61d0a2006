import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../lib/time/clock.ts";
import { FlarewireError } from "../../protocol/index.ts";
import { clientOf } from "../access/client-address.ts";
import type { Refusals } from "../access/refusals.ts";
import { rawProblem } from "../problems/client-error.ts";
import { comeBackAfterS } from "../problems/problem.ts";

/** Connections of any kind, idle ones included; Infinity for no bound. */
export interface ConnectionBounds {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** How long a refused connection may take to read that it is refused. */
const LINGER_MS = 1_000;
/** Refused connections that may linger; more are cut unanswered, because each takes an open file. */
const MAX_LINGERING = 32;
/** How often a full server looks for idle connections to close. */
const LOOK_IDLE_MS = 1_000;

/** The connections of one address. */
interface Group {
  readonly address: string;
  count: number;
}

/**
 * Refuses connections of any kind beyond the bounds, with 503 before anything is read of them. A full server closes its idle connections, which clients open again when they
 * need them. `isTrusted`: a proxy, whose connections are those of many clients.
 */
export function boundConnections(
  server: Server,
  { maxConnections, maxConnectionsPerAddress }: ConnectionBounds,
  parts: {
    readonly clock: Clock;
    readonly refusals: Refusals;
    readonly isTrusted: (address: string) => boolean;
  },
): void {
  const { clock, refusals, isTrusted } = parts;
  const groups = new Map<string, Group>();
  const groupOf = new Map<Socket, Group>();
  let [lingering, idleClosedAtMs] = [0, Number.NEGATIVE_INFINITY];
  // One function for all connections: a closure each would be memory that ten thousand idle clients cost.
  function leave(this: Socket): void {
    const group = groupOf.get(this);
    groupOf.delete(this);
    if (!group) return;
    group.count -= 1;
    if (group.count === 0) groups.delete(group.address);
  }
  const closeIdle = () => {
    const nowMs = clock.monotonic();
    if (nowMs - idleClosedAtMs < LOOK_IDLE_MS) return;
    idleClosedAtMs = nowMs;
    server.closeIdleConnections();
  };
  const refuse = (socket: Socket, address: string, reason: "connections" | "connections-of-address") => {
    refusals.count(reason, address);
    if (lingering >= MAX_LINGERING) return socket.destroy();
    lingering += 1;
    socket.once("close", () => (lingering -= 1));
    const bound =
      reason === "connections" ? `${maxConnections} in all` : `${maxConnectionsPerAddress} from one address`;
    refuseConnection(
      socket,
      new FlarewireError("over-capacity", `as many connections are open as allowed: ${bound}`, { bound }),
    );
  };
  const [serve, ...others] = server.rawListeners("connection");
  if (!serve || others.length > 0) throw new TypeError("the server's own listener is not the only one");
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const peer = socket.remoteAddress ?? "";
    const address = clientOf(peer);
    const group = groups.get(address) ?? { address, count: 0 };
    if (groupOf.size >= maxConnections) {
      closeIdle();
      return refuse(socket, address, "connections");
    }
    if (group.count >= maxConnectionsPerAddress && !isTrusted(peer))
      return refuse(socket, address, "connections-of-address");
    group.count += 1;
    groups.set(address, group);
    groupOf.set(socket, group);
    socket.once("close", leave);
    serve.call(server, socket);
  });
}

/** Answers a connection of which nothing was read with the problem, whatever it asks for, and ends it. */
export function refuseConnection(socket: Socket, failure: FlarewireError): void {
  // A connection that ends meanwhile is nobody's trouble.
  socket.on("error", () => {});
  socket.resume();
  socket.end(rawProblem(failure, randomUUID(), [`Retry-After: ${comeBackAfterS()}`]));
  socket.setTimeout(LINGER_MS, () => socket.destroy());
}
