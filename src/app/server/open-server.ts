import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type ConnectionBounds, createHttpServer } from "../../gateway/http/index.ts";
import { openFiles } from "../../gateway/metrics/index.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";
import { type Frontend, type FrontendOptions, listenProblem } from "../../gateway/start/index.ts";
import { InjectedConnections } from "./injected-connections.ts";
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

/** Connections reserved for REST requests and idle keep-alive connections. */
const SPARE = 1_024;
const SPARE_PER_ADDRESS = 256;
/** Maximum share of all connections that is reserved if the limit of open files is low. */
const SPARE_SHARE = 1 / 8;
/** File descriptors reserved for the log, recordings and upstream services. */
const RESERVED_FILES = 64;

/**
 * Computes the limits. If too few files may be open, lowers them and calls `warn`. `files` is
 * `undefined` if unknown; then nothing is lowered. `maxSockets`, for streams and polls, leaves
 * connections for health checks and REST.
 */
export function connectionLimits(
  { maxSockets, maxSocketsPerIp }: Pick<GatewaySettings, "maxSockets" | "maxSocketsPerIp">,
  files: ReturnType<typeof openFiles>,
  warn: (message: string) => void,
): ConnectionBounds & Pick<GatewaySettings, "maxSockets"> {
  const wanted = maxSockets + SPARE;
  const perAddress = maxSocketsPerIp + SPARE_PER_ADDRESS;
  const room = files ? Math.max(1, files.limit - files.open - RESERVED_FILES) : Number.POSITIVE_INFINITY;
  if (room >= wanted) return { maxSockets, maxConnections: wanted, maxConnectionsPerAddress: perAddress };
  const needed = wanted + RESERVED_FILES + (files?.open ?? 0);
  const spare = Math.min(SPARE, Math.ceil(room * SPARE_SHARE));
  const streams = Math.min(maxSockets, Math.max(1, room - spare));
  warn(
    `maxSockets ${maxSockets} needs ${needed} open files and the limit is ${files?.limit}, so at most ${streams} streams and ${room} connections are accepted; raise the limit (ulimit -n, LimitNOFILE) or lower --max-sockets`,
  );
  return {
    maxSockets: streams,
    maxConnections: room,
    maxConnectionsPerAddress: Math.min(perAddress, Math.ceil(room / 2)),
  };
}

interface HostListening {
  readonly host: string;
  /** 0 picks any free port. */
  readonly port: number;
  readonly backlog: number;
  /** Creates a server, one for each address. */
  readonly create: () => Server;
  /** Receives the errors of a server once it listens. */
  readonly onError: (error: Error) => void;
}

/**
 * Listens on the addresses of a host. As in Fastify, `localhost` stands for the addresses of both
 * families, and all but the first are optional. Returns the servers that listen and, as
 * `authority`, the host and port of a URL by which this machine reaches the first one. Rejects with
 * the system's error.
 */
export async function listenOnHost({ host, port, backlog, create, onError }: HostListening) {
  const servers: Server[] = [];
  const listen = async (address: string, at: number) => {
    const server = create();
    server.listen({ host: address, port: at, backlog });
    await once(server, "listening");
    server.on("error", onError);
    servers.push(server);
    return server.address() as AddressInfo;
  };
  const found = host === "localhost" ? await lookup(host, { all: true }) : [];
  const [first = host, ...others] = found.map(({ address }) => address);
  const { address, family, port: taken } = await listen(first, port);
  for (const other of others) await listen(other, taken).catch(() => undefined);
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[address] ?? address;
  return { servers, authority: `${family === "IPv6" ? `[${reachable}]` : reachable}:${taken}` };
}
