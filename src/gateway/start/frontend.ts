import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "pino";
import { listenOnHost } from "../../base/lib/io/listen-on-host.ts";
import { openFiles } from "../../base/lib/io/open-files.ts";
import { InjectedConnections } from "../../workers/index.ts";
import {
  createHttpServer,
  type HttpServerOptions,
  LISTEN_BACKLOG,
  type MetricsText,
  type Refusals,
} from "../http/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import type { EventLog } from "../log/index.ts";
import type { GatewayMetrics } from "../metrics/index.ts";
import type { GatewaySettings } from "../settings/index.ts";
import { connectionLimits } from "./connection-limits.ts";
import { listenProblem } from "./listen-problem.ts";
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
  readonly logger: Logger;
  /** Lowers the limit of streams to what the system allows. */
  readonly limitStreams: (max: number) => void;
}

export type OpenFrontend = (options: FrontendOptions) => Promise<Frontend>;

/**
 * Creates a server that accepts as many connections as the config and the system allow. It serves
 * those that `accept` receives, with TLS after their handshakes, until `close`.
 */
export async function createBoundedServer(
  config: Pick<GatewaySettings, "maxSockets" | "maxSocketsPerIp"> & TlsConfig,
  options: FrontendOptions,
) {
  const { logger, settings, limitStreams, clock } = options;
  const { maxSockets, ...bounds } = connectionLimits(config, openFiles(), (message) => logger.warn(message));
  limitStreams(maxSockets);
  const app = await createHttpServer({ ...options, settings: { ...settings, ...bounds } });
  const connections = new InjectedConnections(app.server, clock);
  const take = (socket: Socket) => connections.take(socket);
  const room = () => bounds.maxConnections - connections.size;
  const tls = await TlsServer.open(config, { ...options, onSecure: take, room });
  return {
    ...{ app, tls, connections },
    accept: (socket: Socket): void => (tls ? tls.accept(socket) : take(socket)),
    retire: (): void => app.server.closeIdleConnections(),
    close: async (): Promise<void> => {
      tls?.stop();
      await app.close();
      await connections.close(settings?.closeGraceMs ?? 0);
    },
  };
}

/** Serves on the config's address. With TLS, it listens by itself, to limit the handshakes. */
export function ownServer(
  config: Pick<GatewaySettings, "host" | "port" | "maxSockets" | "maxSocketsPerIp"> & TlsConfig,
): OpenFrontend {
  const { host, port } = config;
  const address = { host, port, backlog: LISTEN_BACKLOG };
  return async (options) => {
    const { app, tls, accept, retire, close } = await createBoundedServer(config, options);
    const onError = (error: Error) => options.refusals.countFailedAccept(error);
    app.server.on("error", onError);
    let listeners: readonly Server[] = [];
    const listenSecurely = async () => {
      const create = () => createServer({ noDelay: true }, accept);
      const { servers, authority } = await listenOnHost({ ...address, create, onError });
      listeners = servers;
      return `https://${authority}`;
    };
    return {
      listen: () =>
        (tls ? listenSecurely() : app.listen(address)).catch((error: unknown) => {
          throw listenProblem(error, config) ?? error;
        }),
      retire,
      close: () => {
        for (const listener of listeners) listener.close();
        return close();
      },
      get trouble() {
        return tls?.trouble;
      },
    };
  };
}
