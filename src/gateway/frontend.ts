import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { type Config, listenProblem } from "../config/config.ts";
import {
  createHttpServer,
  type HttpServerOptions,
  LISTEN_BACKLOG,
  type MetricsText,
  type Refusals,
} from "../http/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import { listenAddresses } from "../lib/io/listen-addresses.ts";
import { openFiles } from "../lib/io/open-files.ts";
import type { EventLog } from "../log/index.ts";
import type { GatewayMetrics } from "../metrics/index.ts";
import { InjectedConnections } from "../workers/index.ts";
import { connectionLimits } from "./connection-limits.ts";
import { type TlsConfig, TlsServer } from "./tls-server.ts";

export interface Frontend {
  /** Starts listening. Resolves with the base URL, without the base path. */
  listen(): Promise<string>;
  /** Resolves when every client is served this process's current state. Absent if always so. */
  caughtUp?(): Promise<void>;
  /** Ends idle connections. Called when no new clients are wanted. */
  retire(): void;
  /** Closes the server. Called after the last client was disconnected. */
  close(): Promise<void>;
  /** Metrics of all processes. Absent if this process is the only one. */
  readonly metrics?: MetricsText;
  /** Public description of what is wrong with serving; `undefined` if nothing is. */
  readonly trouble?: string | undefined;
}

export interface FrontendOptions extends HttpServerOptions {
  readonly head: Head;
  readonly hub: Hub;
  readonly log: EventLog;
  readonly metrics: GatewayMetrics | undefined;
  readonly refusals: Refusals;
  /** Lowers the limit of streams to what the system allows. */
  readonly limitStreams: (max: number) => void;
}

export type OpenFrontend = (options: FrontendOptions) => Promise<Frontend>;

interface BoundedServer {
  readonly app: FastifyInstance;
  readonly maxConnections: number;
}

/** Creates a server that accepts as many connections as the config and the system allow. */
export async function createBoundedServer(
  config: Pick<Config, "maxSockets" | "maxSocketsPerIp">,
  options: FrontendOptions,
): Promise<BoundedServer> {
  const { logger, settings, limitStreams } = options;
  const { maxSockets, ...bounds } = connectionLimits(config, openFiles(), (message) => {
    if (logger) logger.warn(message);
  });
  limitStreams(maxSockets);
  const app = await createHttpServer({ ...options, settings: { ...settings, ...bounds } });
  return { app, maxConnections: bounds.maxConnections };
}

export function ownServer(
  config: Pick<Config, "host" | "port" | "maxSockets" | "maxSocketsPerIp"> & TlsConfig,
): OpenFrontend {
  const { host, port } = config;
  return async (options) => {
    const bounded = await createBoundedServer(config, options);
    const { app } = bounded;
    const secure = await injectSecure(config, bounded, options);
    if (secure) return secure;
    app.server.on("error", (error) => options.refusals.countFailedAccept(error));
    return {
      listen: () =>
        app.listen({ host, port, backlog: LISTEN_BACKLOG }).catch((error: unknown) => {
          throw listenProblem(error, config) ?? error;
        }),
      retire: () => app.server.closeIdleConnections(),
      close: () => app.close(),
    };
  };
}

/** Serves behind a listener that completes TLS handshakes. Returns `undefined` without TLS. */
async function injectSecure(
  config: Pick<Config, "host" | "port"> & TlsConfig,
  { app, maxConnections }: BoundedServer,
  { clock, refusals, settings, logger }: FrontendOptions,
): Promise<Frontend | undefined> {
  const { host, port } = config;
  if (!logger) return undefined;
  const connections = new InjectedConnections(app.server, clock);
  const onSecure = (socket: Socket) => connections.take(socket);
  const room = () => maxConnections - connections.size;
  const tls = await TlsServer.open(config, { clock, logger, refusals, onSecure, room });
  if (!tls) return undefined;
  const listeners: Server[] = [];
  const listenOn = async (address: string, at: number) => {
    const listener = createServer({ noDelay: true }, (socket) => tls.accept(socket));
    listener.listen({ host: address, port: at, backlog: LISTEN_BACKLOG });
    await once(listener, "listening");
    listeners.push(listener);
    listener.on("error", (error) => refusals.countFailedAccept(error));
    return listener.address() as AddressInfo;
  };
  return {
    listen: async () => {
      const [first, ...others] = await listenAddresses(host);
      const taken = await listenOn(first, port).catch((error: unknown) => {
        throw listenProblem(error, config) ?? error;
      });
      // Listening on the other address family of the same name is optional.
      for (const other of others) await listenOn(other, taken.port).catch(() => undefined);
      return urlOf(taken);
    },
    retire: () => app.server.closeIdleConnections(),
    close: async () => {
      tls.stop();
      for (const listener of listeners) listener.close();
      await app.close();
      await connections.close(settings?.closeGraceMs ?? 0);
    },
    get trouble() {
      return tls.trouble;
    },
  };
}

function urlOf(address: AddressInfo): string {
  const wild = { "0.0.0.0": "127.0.0.1", "::": "::1" }[address.address] ?? address.address;
  return `https://${address.family === "IPv6" ? `[${wild}]` : wild}:${address.port}`;
}
