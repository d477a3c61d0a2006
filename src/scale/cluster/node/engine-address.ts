import { type SentinelConnectionOptions, SentinelConnector } from "ioredis";
import type { ClusterSettings } from "../cluster-settings.ts";
import { type RedisEngineOptions, survivingDisconnects } from "../redis/redis-engine.ts";

interface EngineAddress {
  readonly connection: RedisEngineOptions["connection"];
  /**
   * How many replicas must confirm an entry: one if Sentinels may promote a replica, otherwise
   * none.
   */
  readonly acknowledgements: number;
}

const PORT = 6_379;
const SENTINEL_PORT = 26_379;

/**
 * Parses the setting `cluster`, whose form was checked. Sentinels get the servers' password, and no
 * user; a Sentinel without a password accepts any.
 */
export function engineAddress(
  { cluster, clusterUser: username }: Pick<ClusterSettings, "cluster" | "clusterUser">,
  password: string | undefined,
): EngineAddress {
  const [, scheme, hosts = "", name] = /^([a-z+]+):\/\/([^/]+)(?:\/(.*))?$/.exec(cluster) ?? [];
  const secret = password === undefined ? {} : { username, password, sentinelPassword: password };
  const isSentinel = scheme?.endsWith("+sentinel") ?? false;
  const isTls = scheme?.startsWith("rediss") ?? false;
  const tls = isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {};
  if (!isSentinel)
    return { connection: { ...hostAndPort(hosts, PORT), ...secret, ...tls }, acknowledgements: 0 };
  const sentinels = hosts.split(",").map((host) => hostAndPort(host, SENTINEL_PORT));
  const connection = { sentinels, Connector: QuietConnector, ...secret, ...tls, ...(name ? { name } : {}) };
  return { connection, acknowledgements: 1 };
}

function hasSentinels(options: unknown): options is SentinelConnectionOptions {
  return typeof options === "object" && options !== null && "sentinels" in options;
}

/**
 * Without a listener, ioredis prints the errors of an unreachable Sentinel to standard error. A
 * Sentinel connection that opens after the connector was closed would stay open and keep the
 * process running.
 */
class QuietConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(hasSentinels(options) ? options : {});
    const connect: unknown = Reflect.get(this, "connectToSentinel");
    if (typeof connect !== "function") return;
    const quietly = (...values: readonly unknown[]) => {
      const sentinel = survivingDisconnects(connect.apply(this, values)).on("error", () => {});
      if (!this.connecting) sentinel.disconnect();
      return sentinel;
    };
    Reflect.set(this, "connectToSentinel", quietly);
  }
}

function hostAndPort(text: string, defaultPort: number): { readonly host: string; readonly port: number } {
  const [, host = text, port = `${defaultPort}`] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}
