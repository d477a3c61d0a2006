import { type BenchServer, startNodeServer, startServer } from "./bench-server.ts";
import { compile } from "./compile.ts";
import { type Drive, LoadClient, type LoadOptions, type Run } from "./load-client.ts";
import { bunProgram, npmPeers } from "./on-demand.ts";
import { cpuMicros } from "./process-cost.ts";
import { type Load, messageText, type UniformLoad, uniformEvents } from "./uniform-events.ts";

/** A server to measure: how to start it, and how clients connect to it. */
export interface Contender {
  readonly name: string;
  /** Rejects with the reason if it cannot run on this machine. */
  start(): Promise<BenchServer>;
  /**
   * Differences from a plain WebSocket at `/` whose messages all begin like the gateway's events.
   */
  readonly load?: Partial<Omit<LoadOptions, "port">>;
  /**
   * How to publish, for a server without a control port. Such a server sends uniform messages only.
   */
  readonly drive?: (load: UniformLoad, clients: number) => Partial<Drive>;
}

const EVENT = '{"type":"event"';
const server = (name: string) => new URL(`../peers/${name}-server.ts`, import.meta.url);

/** Default request target of the gateway's clients. */
export const ALL_CHANNELS = "/api/v1/stream?channels=*";

/** Returns the gateway, with these flags for Node and clients of these request targets. */
export function gateway(paths: readonly string[] = [ALL_CHANNELS], flags: readonly string[] = []): Contender {
  return {
    name: "flarewire",
    start: () => startNodeServer(new URL("gateway-server.ts", import.meta.url), [], flags),
    load: { paths },
  };
}

/**
 * Returns a loop of `send()` in C: one call per message and client or, if `joined`, one per batch
 * and client.
 */
export function floor(joined: boolean): Contender {
  return {
    name: joined ? "floor, joined" : "floor",
    start: async () =>
      startServer(compile(new URL("../peers/floor-server.c", import.meta.url)), joined ? ["joined"] : []),
  };
}

/** Returns a loop of Node's `socket.write`, one call per batch and client, without a gateway. */
export const NODE_LOOP: Contender = {
  name: "socket.write",
  start: () => startNodeServer(server("node-loop")),
};

export const PLAIN_WS: Contender = { name: "ws", start: () => startNodeServer(server("ws")) };

export const FASTIFY_WEBSOCKET: Contender = {
  name: "@fastify/websocket",
  start: () => startNodeServer(server("fastify-websocket")),
};

export const SOCKET_IO: Contender = {
  name: "socket.io",
  start: async () => startNodeServer(server("socket-io"), [npmPeers()]),
  load: {
    ...{ kind: "socketio", hello: ["40"], prefix: '42["event"' },
    paths: ["/socket.io/?EIO=4&transport=websocket"],
  },
};

export const BUN: Contender = {
  name: "bun",
  start: async () => startServer(bunProgram(), [server("bun").pathname]),
};

const OFFER = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits";
const DEFLATED = { headers: [OFFER], deflated: true };

/** The gateway and the peers that compress, each with clients that negotiate compression. */
export const COMPRESSED = {
  gateway: { ...gateway(), load: { paths: [ALL_CHANNELS], ...DEFLATED } },
  bun: {
    name: "bun",
    start: async () => startServer(bunProgram(), [server("bun").pathname, "--deflate"]),
    load: DEFLATED,
  },
  ws: { name: "ws", start: () => startNodeServer(server("ws"), ["--deflate"]), load: DEFLATED },
  fastify: {
    name: "@fastify/websocket",
    start: () => startNodeServer(server("fastify-websocket"), ["--deflate"]),
    load: DEFLATED,
  },
} as const satisfies Readonly<Record<string, Contender>>;

/** A running contender with its clients. */
export interface Contestant {
  readonly name: string;
  readonly clients: number;
  readonly contender: Contender;
  readonly server: BenchServer;
  readonly client: LoadClient;
}

/**
 * Starts the server and opens this many connections to it. If either fails, ends both and rejects.
 */
export async function enter(contender: Contender, clients: number): Promise<Contestant> {
  const server = await contender.start();
  let client: LoadClient | undefined;
  try {
    client = new LoadClient({
      ...{ kind: "ws", paths: ["/"], prefix: EVENT, port: server.port, drivePort: server.control },
      ...contender.load,
    });
    await client.open(clients);
    return { name: contender.name, clients, contender, server, client };
  } catch (error) {
    await client?.stop();
    await server.stop();
    throw error;
  }
}

/** Ends a contestant's processes. */
export async function leave({ server, client }: Contestant): Promise<void> {
  await client.stop();
  await server.stop();
}

/** The server's cost of a run. */
export interface Cost extends Run {
  /** CPU time of the server, all threads, per event and client, in microseconds. */
  readonly perDeliveryUs: number;
  /** Share of the wall time in which the server, and the client, was busy. */
  readonly serverShare: number;
  readonly clientShare: number;
}

/** Sends the server its load. Resolves with the options to drive it. */
export async function prepare(contestant: Contestant, load: Load): Promise<Partial<Drive>> {
  const { contender, server, clients } = contestant;
  if (!contender.drive) {
    await server.order(load);
    return {};
  }
  if ("market" in load) throw new Error(`${contender.name} has uniform messages only`);
  return contender.drive(load, clients);
}

/** Drives the server and measures its CPU time. */
export async function measure({ server, client }: Contestant, drive: Drive): Promise<Cost> {
  const before = cpuMicros(server.pid);
  const run = await client.drive(drive);
  const used = cpuMicros(server.pid) - before;
  return {
    ...run,
    perDeliveryUs: used / run.deliveries,
    serverShare: used / run.wallUs,
    clientShare: run.cpuUs / run.wallUs,
  };
}

/**
 * Returns the messages of a uniform load as they are sent, for servers that publish given texts.
 */
export function uniformText(load: UniformLoad): readonly string[] {
  return uniformEvents(load.events, load.bytes).map(messageText);
}
