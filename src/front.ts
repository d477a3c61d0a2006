import { type Config, listenProblem } from "./config.ts";
import { createHttpServer, type HttpServerOptions } from "./http/index.ts";

/** The server between a gateway and its clients. */
export interface Front {
  /** Resolves when clients can come, with the address, without the base path. */
  listen(): Promise<string>;
  /** Called when no more clients are wanted: ends the connections over which nobody asks for anything. */
  retire(): void;
  /** Called when the last client was sent away. */
  close(): Promise<void>;
}

/** Makes the server that serves this; not yet listening. */
export type OpenFront = (options: HttpServerOptions) => Promise<Front>;

/** A server of the gateway's own, on the config's host and port. */
export function ownServer(config: Config): OpenFront {
  const { host, port } = config;
  return async (options) => {
    const app = await createHttpServer(options);
    return {
      listen: () =>
        app.listen({ host, port }).catch((error: unknown) => {
          throw listenProblem(error, config) ?? error;
        }),
      retire: () => app.server.closeIdleConnections(),
      close: () => app.close(),
    };
  };
}
