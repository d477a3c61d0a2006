import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "pino";
import { listenOnHost } from "../../base/lib/io/listen-on-host.ts";
import { openFiles } from "../../base/lib/io/open-files.ts";
import { createHttpServer, type HttpServerOptions, LISTEN_BACKLOG, type Refusals } from "../http/index.ts";
import type { GatewaySettings } from "../settings/index.ts";
import { connectionLimits } from "./connection-limits.ts";
import { InjectedConnections } from "./injected-connections.ts";
import { listenProblem } from "./listen-problem.ts";
import { type TlsConfig, TlsServer } from "./tls-server.ts";

export interface Frontend {
  /** Starts listening. Resolves with the base URL, without the base path. */
  listen(): Promise<string>;
  /** Ends idle connections. Called when no new clients are wanted. */
  retire(): void;
  /** Closes the server. Called after the last client was disconnected. */
  close(): Promise<void>;
  /** Public description of what is wrong with serving; `undefined` if nothing is. */
  readonly trouble?: string | undefined;
}

interface FrontendOptions extends HttpServerOptions {
  readonly refusals: Refusals;
  readonly logger: Logger;
  /** Lowers the limit of streams to what the system allows. */
  readonly limitStreams: (max: number) => void;
}

/** Opens what serves the gateway's clients. */
export type OpenFrontend = (options: FrontendOptions) => Promise<Frontend>;

/**
 * Creates a server on the config's address that accepts as many connections as the config and the
 * system allow. With TLS, it listens by itself, to limit the handshakes.
 */
export async function openServer(
  config: Pick<GatewaySettings, "host" | "port" | "maxSockets" | "maxSocketsPerIp"> & TlsConfig,
  options: FrontendOptions,
): Promise<Frontend> {
  const { logger, settings, limitStreams, clock, refusals } = options;
  const { maxSockets, ...bounds } = connectionLimits(config, openFiles(), (message) => logger.warn(message));
  limitStreams(maxSockets);
  const app = await createHttpServer({ ...options, settings: { ...settings, ...bounds } });
  const secured = new InjectedConnections(app.server, clock);
  const tls = await TlsServer.open(config, {
    ...options,
    onSecure: (socket) => secured.take(socket),
    room: () => bounds.maxConnections - secured.size,
  });
  const address = { host: config.host, port: config.port, backlog: LISTEN_BACKLOG };
  const onError = (error: Error) => refusals.countFailedAccept(error);
  app.server.on("error", onError);
  let listeners: readonly Server[] = [];
  const listenSecurely = async (handshakes: TlsServer) => {
    const create = () => createServer({ noDelay: true }, (socket: Socket) => handshakes.accept(socket));
    const { servers, authority } = await listenOnHost({ ...address, create, onError });
    listeners = servers;
    return `https://${authority}`;
  };
  return {
    listen: () =>
      (tls ? listenSecurely(tls) : app.listen(address)).catch((error: unknown) => {
        throw listenProblem(error, config) ?? error;
      }),
    retire: () => app.server.closeIdleConnections(),
    close: async () => {
      for (const listener of listeners) listener.close();
      tls?.stop();
      await app.close();
      await secured.close(settings?.closeGraceMs ?? 0);
    },
    get trouble() {
      return tls?.trouble;
    },
  };
}
