import type { FastifyInstance } from "fastify";
import { type Config, listenProblem } from "../config/config.ts";
import { createHttpServer, type HttpServerOptions, LISTEN_BACKLOG, type Refusals } from "../http/index.ts";
import type { Head, Hub } from "../hub/index.ts";
import { openFiles } from "../lib/io/open-files.ts";
import type { EventLog } from "../log/index.ts";
import type { GatewayMetrics } from "../metrics/index.ts";
import { connectionRoom } from "./connection-room.ts";

/** The server between a gateway and its clients. */
export interface Frontend {
  /** Resolves when clients can come, with the address, without the base path. */
  listen(): Promise<string>;
  /** Resolves when every client is served the state that this process has now; left out where it always is. */
  caughtUp?(): Promise<void>;
  /** Called when no more clients are wanted: ends the connections over which nobody asks for anything. */
  retire(): void;
  /** Called when the last client was sent away. */
  close(): Promise<void>;
  /** What ails the serving, in words for everybody; `undefined` while nothing does. */
  readonly trouble?: string | undefined;
}

/** What a front is made of. */
export interface FrontOptions extends HttpServerOptions {
  readonly head: Head;
  readonly hub: Hub;
  readonly log: EventLog;
  readonly metrics: GatewayMetrics | undefined;
  readonly refusals: Refusals;
}

/** Makes the server that serves this; not yet listening. */
export type OpenFront = (options: FrontOptions) => Promise<Frontend>;

/** A server that accepts as many connections as the config and the system allow this process. */
export function createBoundedServer(config: Config, options: FrontOptions): Promise<FastifyInstance> {
  const { logger, settings } = options;
  const bounds = connectionRoom(config, openFiles(), (message) => {
    if (logger) logger.warn(message);
  });
  return createHttpServer({ ...options, settings: { ...settings, ...bounds } });
}

/** A server of the gateway's own, on the config's host and port. */
export function ownServer(config: Config): OpenFront {
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
