import { createServer, type Server, type Socket } from "node:net";
import { openFiles } from "../../base/lib/io/open-files.ts";
import { createHttpServer } from "../../gateway/http/index.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";
import type { Frontend, FrontendOptions } from "../../gateway/start/frontend.ts";
import { listenProblem } from "../../gateway/start/listen-problem.ts";
import { connectionLimits } from "./connection-limits.ts";
import { InjectedConnections } from "./injected-connections.ts";
import { listenOnHost } from "./listen-on-host.ts";
import { type TlsConfig, TlsServer } from "./tls-server.ts";

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

/**
 * Maximum number of connections that wait to be accepted. The system lowers it to its own limit.
 * Node's default of 511 overflows when 600 clients return at once: the rest retry after 1 to 31 s.
 */
export const LISTEN_BACKLOG = 65_535;
