import { type BenchServer, startNodeServer, startServer } from "./bench-server.ts";
import { compile } from "./compile.ts";
import { type Drive, LoadClient, type LoadOptions, type Run } from "./load-client.ts";
import { bunProgram, npmPeers } from "./on-demand.ts";
import { cpuMicros } from "./process-cost.ts";
import { type Load, messageText, type UniformLoad, uniformEvents } from "./uniform-events.ts";

/** One that takes part: how its server is started, and how the load speaks to it. */
export interface Contender {
  readonly name: string;
  /** Rejects with the reason where it cannot take part on this machine. */
  start(): Promise<BenchServer>;
  /**
   * What differs from a plain WebSocket on `/` whose messages all begin as the gateway's events do.
   */
  readonly load?: Partial<Omit<LoadOptions, "port">>;
  /**
   * How it publishes, where it has no port for orders; such a one has uniform messages
   * only.
   */
  readonly drive?: (load: UniformLoad, clients: number) => Partial<Drive>;
}

const EVENT = '{"type":"event"';
const server = (name: string) => new URL(`../peers/${name}-server.ts`, import.meta.url);

/** What the clients of the gateway ask for by default. */
export const ALL_CHANNELS = "/api/v1/stream?channels=*";

/** The gateway, with these flags for Node and with clients that ask for these addresses. */
export function gateway(paths: readonly string[] = [ALL_CHANNELS], flags: readonly string[] = []): Contender {
  return {
    name: "flarewire",
    start: () => startNodeServer(new URL("gateway-server.ts", import.meta.url), [], flags),
    load: { paths },
  };
}

/**
 * A loop of `send()` in C: one for each message and client, or, joined, one for each batch and
 * client.
 */
export function floor(joined: boolean): Contender {
  return {
    name: joined ? "floor, joined" : "floor",
    start: async () =>
      startServer(compile(new URL("../peers/floor-server.c", import.meta.url)), joined ? ["joined"] : []),
  };
}

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

/** A contender that runs, with its clients. */
export interface Contestant {
  readonly name: string;
  readonly clients: number;
  readonly contender: Contender;
  readonly server: BenchServer;
  readonly client: LoadClient;
}

/**
 * Starts the server and opens this many connections to it. Rejects where either fails; nothing is
 * left running then.
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

/** What a run cost the server. */
export interface Cost extends Run {
  /** Processor time of the server, all threads, for one event to one client, in microseconds. */
  readonly perDeliveryUs: number;
  /** Share of the wall time in which the server, and the client, was busy. */
  readonly serverShare: number;
  readonly clientShare: number;
}

/** Tells the server what to publish from now on; resolves with how it is to be driven. */
export async function prepare(contestant: Contestant, load: Load): Promise<Partial<Drive>> {
  const { contender, server, clients } = contestant;
  if (!contender.drive) {
    await server.order(load);
    return {};
  }
  if ("market" in load) throw new Error(`${contender.name} has uniform messages only`);
  return contender.drive(load, clients);
}

/** Drives the server for a while, and takes its time. */
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

/** Bytes of a uniform message, as it is sent: for servers that have to be told. */
export function uniformText(load: UniformLoad): readonly string[] {
  return uniformEvents(load.events, load.bytes).map(messageText);
}
