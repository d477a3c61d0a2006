import { isIP } from "node:net";
import { FlarewireError } from "../protocol/index.ts";

/** How the HTTP side behaves. Every bound is there to keep one client from taking what belongs to all. */
export interface HttpSettings {
  /** Put before every path, as clients see it: `""` (default) or one or more segments such as `/flarewire`, without a slash at the end. */
  readonly basePath: string;
  /** Where the server listens. On a loopback address only names of this machine are served, and `allowedHosts`; `undefined` (default): any name. */
  readonly host: string | undefined;
  /** Names in the `Host` field that are served beside those of this machine; `*` for any. Empty (default): as `host` says. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may read the answers, such as `https://example.com`; `"*"` (default), alone or in the list, for all: the data is public and read-only. */
  readonly corsOrigins: readonly string[] | "*";
  /** Whose `X-Forwarded-*` to believe: nobody's (`false`, default, or an empty list), everybody's (`true`), or those of these addresses, networks such as `10.0.0.0/8`, and `loopback`, `linklocal`, `uniquelocal`. */
  readonly trustProxy: boolean | readonly string[];
  /** Largest request body in bytes; default 1,024. Nothing that is served needs one. */
  readonly bodyLimitBytes: number;
  /** Longest address, with its query, in characters; default 8,192. */
  readonly urlLimit: number;
  /** Largest request line and header fields together, in bytes; default 16,384. */
  readonly headersLimitBytes: number;
  /** How long a request may take to arrive whole; default 10,000. 0 would wait for ever. */
  readonly requestTimeoutMs: number;
  /** How often connections are checked against that; default 1,000. */
  readonly checkIntervalMs: number;
  /** How long an idle connection is kept; default 75,000: longer than the minute after which load balancers drop theirs. */
  readonly keepAliveTimeoutMs: number;
  /** How long a connection may neither read nor write while an answer is on its way; default 120,000. */
  readonly idleTimeoutMs: number;
  /** Connections of any kind in all; default Infinity. One more is refused with 503. For a server of our own only. */
  readonly maxConnections: number;
  /** Connections of any kind from one address that is no trusted proxy; default Infinity. */
  readonly maxConnectionsPerAddress: number;
  /** Requests a minute from one address without a valid key, and as many at once; an answer of 64 KiB or more counts by its size. One more is 429. Default Infinity. */
  readonly anonymousRequests: number;
  /** How long answers that are under way when the server closes may take; default 2,000. 0 cuts them. */
  readonly closeGraceMs: number;
}

/** The defaults named at each setting. */
export const DEFAULT_HTTP_SETTINGS: HttpSettings = {
  basePath: "",
  host: undefined,
  allowedHosts: [],
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
  closeGraceMs: 2_000,
};

/** The settings with defaults filled in, in the simplest form. Throws FlarewireError `invalid-setting`, which names setting, value and bound. */
export function completeHttpSettings(given: Partial<HttpSettings>): HttpSettings {
  const settings = { ...DEFAULT_HTTP_SETTINGS, ...given };
  if (!/^(\/[A-Za-z0-9._~-]+)*$/.test(settings.basePath)) {
    throw invalid(
      "basePath",
      settings.basePath,
      'empty or segments such as "/flarewire", no slash at the end',
    );
  }
  const corsOrigins = settings.corsOrigins.includes("*") ? "*" : settings.corsOrigins;
  for (const origin of corsOrigins === "*" ? [] : corsOrigins) {
    if (!isOrigin(origin))
      throw invalid("corsOrigins", origin, 'an origin such as "https://example.com", or "*"');
  }
  const proxies = typeof settings.trustProxy === "boolean" ? [] : settings.trustProxy;
  for (const proxy of proxies) {
    if (!isNetwork(proxy)) throw invalid("trustProxy", proxy, "an address or a network such as 10.0.0.0/8");
  }
  return {
    ...settings,
    corsOrigins,
    trustProxy: settings.trustProxy === true || (proxies.length > 0 && proxies),
  };
}

function isNetwork(text: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(text)) return true;
  const [address = "", bits = "1", ...rest] = text.split("/");
  const family = isIP(address);
  return (
    family > 0 &&
    rest.length === 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) >= 1 &&
    Number(bits) <= (family === 4 ? 32 : 128)
  );
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text && text !== "null";
}

function invalid(field: string, value: string, bound: string): FlarewireError {
  return new FlarewireError("invalid-setting", `${field} is "${value}"; it has to be ${bound}`, {
    field,
    bound,
  });
}
