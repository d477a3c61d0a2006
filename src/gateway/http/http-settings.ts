/** Maximum characters of a path parameter, which is the length of the longest address. */
export const MAX_PATH_PART = 130;

/** Settings of the HTTP server. Limits prevent one client from using up shared resources. */
export interface HttpSettings {
  /** Prefix of every path, as clients see it: `""` (default), or as `/flarewire`. */
  readonly basePath: string;
  /**
   * Address on which the server listens. On loopback, only local names and `allowedHosts` are
   * served. Default: unknown, so any name is.
   */
  readonly host: string | undefined;
  /** Names to serve besides local ones; `*` for any. Empty (default): see `host`. */
  readonly allowedHosts: readonly string[];
  /**
   * URL of this server for its visitors, without trailing slash. Default: that of the request, if
   * it is for a name in `allowedHosts` or for this machine.
   */
  readonly publicUrl: string | undefined;
  /** Origins of pages that may read responses; `"*"` (default): all, because the data is public. */
  readonly corsOrigins: readonly string[] | "*";
  /**
   * Peers whose `X-Forwarded-*` is trusted: none (`false`, default), all (`true`), or addresses,
   * networks such as `10.0.0.0/8`, `loopback`, `linklocal`, `uniquelocal`.
   */
  readonly trustProxy: boolean | readonly string[];
  /** Maximum request body in bytes. Default 1,024; see also pushSettings. */
  readonly bodyLimitBytes: number;
  /** Maximum URL with its query, in characters. Default 8,192. */
  readonly urlLimit: number;
  /** Maximum request line and header fields together, in bytes. Default 16,384. */
  readonly headersLimitBytes: number;
  /** Maximum time to receive a request. Default 10,000; 0 waits forever. */
  readonly requestTimeoutMs: number;
  /** Interval at which `requestTimeoutMs` is checked. Default 1,000. */
  readonly checkIntervalMs: number;
  /** Idle timeout of a connection. Default 75,000, longer than load balancers' minute. */
  readonly keepAliveTimeoutMs: number;
  /** How long a connection may neither read nor write during a response. Default 120,000. */
  readonly idleTimeoutMs: number;
  /**
   * Maximum connections of our own server, idle ones included. Default Infinity; one more gets a
   * 503.
   */
  readonly maxConnections: number;
  /** Maximum connections from one address, unless a trusted proxy's. Default Infinity. */
  readonly maxConnectionsPerAddress: number;
  /**
   * Requests per minute of an address without a key, and its burst; then 429. A response counts as
   * one more for each 64 KiB. Default Infinity.
   */
  readonly anonymousRequests: number;
  /** The same for new streams: WebSocket handshakes and SSE. Default Infinity. */
  readonly anonymousStreams: number;
  /** How long responses in progress may take when the server closes. Default 2,000; 0: no time. */
  readonly closeGraceMs: number;
}

const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  basePath: "",
  host: undefined,
  allowedHosts: [],
  publicUrl: undefined,
  corsOrigins: "*",
  trustProxy: false,
  bodyLimitBytes: 1_024,
  urlLimit: 8_192,
  headersLimitBytes: 16_384,
  requestTimeoutMs: 10_000,
  checkIntervalMs: 1_000,
  keepAliveTimeoutMs: 75_000,
  idleTimeoutMs: 120_000,
  maxConnections: Number.POSITIVE_INFINITY,
  maxConnectionsPerAddress: Number.POSITIVE_INFINITY,
  anonymousRequests: Number.POSITIVE_INFINITY,
  anonymousStreams: Number.POSITIVE_INFINITY,
  closeGraceMs: 2_000,
};

/** Adds defaults and normalizes. The values are those of a Config, which has checked them. */
export function completeHttpSettings(given: Partial<HttpSettings>): HttpSettings {
  const settings = { ...DEFAULT_HTTP_SETTINGS, ...given };
  const { corsOrigins, trustProxy } = settings;
  return {
    ...settings,
    corsOrigins: corsOrigins.includes("*") ? "*" : corsOrigins,
    trustProxy: trustProxy === true || (trustProxy !== false && trustProxy.length > 0 && trustProxy),
  };
}
