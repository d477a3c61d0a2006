import type { FastifyInstance } from "fastify";
import { type Config, listenProblem } from "../config/config.ts";
import { createHttpServer, type HttpServerOptions, LISTEN_BACKLOG, type Refusals } from "../http/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import { openFiles } from "../lib/io/open-files.ts";
import type { EventLog } from "../log/index.ts";
import type { GatewayMetrics } from "../metrics/index.ts";
import { connectionLimits } from "./connection-limits.ts";

export interface Frontend {
  /** Starts listening. Resolves with the base URL, without the base path. */
  listen(): Promise<string>;
  /** Resolves when every client is served this process's current state. Absent: always so. */
  caughtUp?(): Promise<void>;
  /** Ends idle connections. Called when no new clients are wanted. */
  retire(): void;
  /** Closes the server. Called after the last client was disconnected. */
  close(): Promise<void>;
  /** Public description of what is wrong with serving; `undefined` if nothing is. */
  readonly trouble?: string | undefined;
}

export interface FrontendOptions extends HttpServerOptions {
  readonly head: Head;
  readonly hub: Hub;
  readonly log: EventLog;
  readonly metrics: GatewayMetrics | undefined;
  readonly refusals: Refusals;
}

export type OpenFrontend = (options: FrontendOptions) => Promise<Frontend>;

/** Creates a server that accepts as many connections as the config and the system allow. */
export function createBoundedServer(
  config: Pick<Config, "maxSockets" | "maxSocketsPerIp">,
  options: FrontendOptions,
): Promise<FastifyInstance> {
  const { logger, settings } = options;
  const bounds = connectionLimits(config, openFiles(), (message) => {
    if (logger) logger.warn(message);
  });
  return createHttpServer({ ...options, settings: { ...settings, ...bounds } });
}

export function ownServer(
  config: Pick<Config, "host" | "port" | "maxSockets" | "maxSocketsPerIp">,
): OpenFrontend {
  const { host, port } = config;
  return async (options) => {
    const app = await createBoundedServer(config, options);
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
