import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../base/lib/time/time.ts";
import {
  directoryOrNone,
  duration,
  existingFile,
  flag,
  integer,
  oneOf,
  orNone,
  type SettingsOf,
  type SettingTable,
  serviceUrl,
  setting,
  size,
} from "../../base/settings/index.ts";
import { claim, hostName, hosts, keySetUrl, networks, origins, urlPath } from "./kinds.ts";

const KIB = 1_024;

/** Where the gateway listens. */
export const ADDRESS_SETTINGS = {
  host: setting("host", hostName, {
    default: "127.0.0.1",
    example: "0.0.0.0",
    description: "Address to listen on. With the default, only this machine can connect",
  }),
  port: setting("port", integer(0, 65_535), {
    default: "8080",
    example: "9000",
    description: "Port to listen on; 0 picks any free port",
  }),
  basePath: setting("basePath", urlPath, {
    default: "/",
    example: "/flarewire",
    description: "Path prefix of all endpoints, for a reverse proxy that forwards one path",
  }),
} as const satisfies SettingTable;

/** Age, heartbeat and storage of the data. */
export const DATA_SETTINGS = {
  staleAfter: setting("staleAfterMs", duration(SECOND_MS, DAY_MS), {
    default: "15s",
    example: "1m",
    description: "Age at which data counts as stale and the gateway as not ready",
  }),
  heartbeat: setting("heartbeatMs", duration(SECOND_MS, MINUTE_MS), {
    default: "15s",
    example: "5s",
    description: "Interval between two heartbeats on a stream",
  }),
  data: setting("data", directoryOrNone, {
    default: "none",
    defaultText:
      "$XDG_STATE_HOME/flarewire, or ~/.local/state/flarewire; none in a program that embeds Flarewire",
    example: "/var/lib/flarewire",
    description:
      "Directory where data is stored: the log of events, the history and the engine's state; none: memory only",
  }),
  logAge: setting("logAgeMs", duration(SECOND_MS, 30 * DAY_MS), {
    default: "1h",
    example: "10m",
    description: "Retention time of events, so that clients can resume; logCount may extend it",
  }),
  logCount: setting("logCount", integer(1, 100_000_000), {
    default: "10000",
    example: "50000",
    description: "Number of events that are stored whatever their age",
  }),
  logFlareAge: setting("logFlareAgeMs", duration(0, 30 * DAY_MS), {
    default: "72h",
    example: "24h",
    description:
      "Retention time of flare starts, surges, finishes and outcomes, and of source state changes, if longer than logAge. They may use half of logBytes",
  }),
  logBytes: setting("logBytes", size(64 * KIB), {
    default: "128MiB",
    example: "256MiB",
    description:
      "Limit of stored events, in memory and in the data directory. It overrides logAge, logCount and logFlareAge. The engine's state comes on top",
  }),
} as const satisfies SettingTable;

/** Limits of clients. */
export const LIMIT_SETTINGS = {
  maxSockets: setting("maxSockets", integer(1, 1_000_000), {
    default: "10000",
    example: "50000",
    description:
      "Limit of open streams and polls. Further ones get 503. Connections of any kind: 1,024 more, within the limit of open files",
  }),
  maxSocketsPerIp: setting("maxSocketsPerIp", integer(1, 1_000_000), {
    default: "256",
    example: "20",
    description:
      "Limit of open streams and polls per client address. Further ones get 503. Connections of any kind: 256 more",
  }),
  anonymousRequests: setting("anonymousRequests", orNone(integer(1, 1_000_000_000)), {
    default: "3000",
    example: "600",
    description:
      "Requests per minute and address without a valid key, and the size of a burst. Further ones get 429. Each 64 KiB of a response counts as another request, and expensive requests count as several. Health checks do not count. none: no limit",
  }),
  anonymousStreams: setting("anonymousStreams", orNone(integer(1, 1_000_000_000)), {
    default: "1000",
    example: "60",
    description:
      "WebSockets and SSE streams that an address without a valid key may open per minute, and the size of a burst. Further ones get 429. Each counts as a request too. none: no limit",
  }),
  compression: setting("compression", flag, {
    default: "true",
    example: "false",
    description: "Compress WebSocket messages, once for all clients that support it",
  }),
} as const satisfies SettingTable;

/** Settings of keys, tokens and TLS. */
export const ACCESS_SETTINGS = {
  keys: setting("keys", existingFile, {
    default: undefined,
    defaultText: "none: no keys are required, and every client has full access",
    example: "/etc/flarewire/keys.json",
    description: "Key file, created with flarewire keys. Reloaded when it changes",
  }),
  jwtKey: setting("jwtKey", existingFile, {
    default: undefined,
    example: "/etc/flarewire/issuer.pem",
    description:
      "File with the keys that verify JSON Web Tokens: public keys (PEM), a JWK set, or a secret for HS256. Reloaded when it changes",
  }),
  jwksUrl: setting("jwksUrl", keySetUrl, {
    default: undefined,
    example: "https://login.example.org/.well-known/jwks.json",
    description: "URL of the issuer's JWK set instead, fetched every 5 minutes",
  }),
  jwtIssuer: setting("jwtIssuer", claim, {
    default: undefined,
    example: "https://login.example.org/",
    description: "Required iss of a token, with jwtKey or jwksUrl",
  }),
  jwtAudience: setting("jwtAudience", claim, {
    default: undefined,
    example: "https://flares.example.org",
    description: "Required aud of a token, with jwtKey or jwksUrl",
  }),
  anonymous: setting("anonymous", oneOf(["free", "off"]), {
    default: "free",
    example: "off",
    description:
      "Access without a key, if keys, jwtKey or jwksUrl is set: free (the plan of that name) or off (401)",
  }),
  tlsCert: setting("tlsCert", existingFile, {
    default: undefined,
    defaultText: "none: plain HTTP",
    example: "/etc/flarewire/tls.crt",
    description:
      "TLS certificate in PEM, followed by its intermediate certificates. With tlsKey, the port serves HTTPS and WSS. Reloaded when it changes",
  }),
  tlsKey: setting("tlsKey", existingFile, {
    default: undefined,
    example: "/etc/flarewire/tls.key",
    description: "Private key of tlsCert in PEM, without a passphrase",
  }),
} as const satisfies SettingTable;

/** Names, origins, proxies and metrics. */
export const WEB_SETTINGS = {
  allowedHosts: setting("allowedHosts", hosts, {
    default: "none",
    defaultText: "none: this machine's names if host is a loopback address, otherwise any",
    example: "flares.example.org",
    description:
      "Accepted Host names, such as one that a proxy forwards, besides localhost and loopback addresses; others get 421",
  }),
  publicUrl: setting("publicUrl", serviceUrl("http"), {
    default: undefined,
    example: "https://flares.example.org",
    description:
      "URL of this server for its visitors, with basePath, for previews, alerts and /openapi.json. none: previews have links if the request is for a name in allowedHosts, and alerts have none",
  }),
  corsOrigins: setting("corsOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may read REST responses. No other origin can ever read health and metrics",
  }),
  allowedOrigins: setting("allowedOrigins", origins, {
    default: "*",
    example: "https://app.example.org",
    description:
      "Origins whose pages may open a WebSocket or request events. Clients outside a browser send no origin and are accepted. `*` does not include `/mcp`",
  }),
  trustProxy: setting("trustProxy", networks, {
    default: "none",
    example: "loopback,10.0.0.0/8",
    description: "Proxies whose X-Forwarded-For header is trusted for the client's address",
  }),
  metrics: setting("metrics", flag, {
    default: "true",
    example: "false",
    description: "Serve metrics at `/metrics`, for Prometheus",
  }),
  metricsPort: setting("metricsPort", orNone(integer(0, 65_535)), {
    default: "none",
    example: "9464",
    description:
      "Port of its own for metrics, which `port` then does not serve; 0 picks any free port. none: metrics are served on `port`, to everyone who reaches it",
  }),
  metricsHost: setting("metricsHost", hostName, {
    default: "127.0.0.1",
    example: "10.0.0.5",
    description: "Address on which metricsPort listens",
  }),
} as const satisfies SettingTable;

/** Shutdown and log. */
export const PROCESS_SETTINGS = {
  drain: setting("drainMs", duration(0, 10 * MINUTE_MS), {
    default: "10s",
    example: "30s",
    description: "Shutdown window over which clients are disconnected",
  }),
  logLevel: setting("logLevel", oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]), {
    default: "info",
    example: "warn",
    description:
      "Minimum level of the log on standard error: one JSON object per line, or text on a terminal",
  }),
} as const satisfies SettingTable;

const TABLES = {
  ...ADDRESS_SETTINGS,
  ...DATA_SETTINGS,
  ...LIMIT_SETTINGS,
  ...ACCESS_SETTINGS,
  ...WEB_SETTINGS,
  ...PROCESS_SETTINGS,
};

/** The gateway's own settings. */
export type GatewaySettings = SettingsOf<typeof TABLES>;

/** Returns the gateway's settings: those that are given, and the defaults of all others. */
export function gatewaySettings(given: Partial<GatewaySettings> = {}): GatewaySettings {
  const table: SettingTable = TABLES;
  const defaults = Object.values(table).map(({ field, default: preset, path, schema }) => [
    field,
    preset === undefined || path ? preset : schema.parse(preset),
  ]);
  return { ...Object.fromEntries(defaults), ...given };
}
