import { PLANS } from "../../../base/protocol/index.ts";
import { CHALLENGE } from "../access/access.ts";

export interface HeaderContract {
  readonly description: string;
  /** JSON Schema of the value. */
  readonly schema: { readonly type: string; readonly [keyword: string]: unknown };
  readonly example: string | number;
}

const text = (pattern: string) => ({ type: "string", pattern }) as const;
export const CURSOR_PATTERN = "^[0-9a-z]{4,32}-(0|[1-9]\\d{0,14})(-[0-9a-z]{1,12})?$";
const FACT = "(trades|liquidity|listings|profiles)";

/**
 * `Cache-Control` of pages of events without a key. A page after a cursor and before the head never
 * changes. The page at the head stays correct, but others follow it. A client that waits asks for
 * them at once.
 */
export const PAGE_CACHING = {
  closed: "public, max-age=86400, immutable",
  open: "public, max-age=0, s-maxage=1",
  awaited: "public, max-age=0, s-maxage=10",
} as const;

/** The response headers that the contract describes. */
export const HEADERS = {
  "Flarewire-Cursor": {
    description:
      "The log position of the response. Pass it as `after` to a stream or poll to continue from there.",
    schema: text(CURSOR_PATTERN),
    example: "13ac274a9f68b758-101",
  },
  "Flarewire-At": {
    description:
      "The response and its other headers are those of this past minute. Sent only for requests with `at`.",
    schema: text("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:00\\.000Z$"),
    example: "2017-11-12T08:24:00.000Z",
  },
  "Flarewire-Stored-Since": {
    description: "The oldest stored minute that `at` can select. Absent without one, and with `at`.",
    schema: text("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:00\\.000Z$"),
    example: "2017-11-12T02:24:00.000Z",
  },
  "Flarewire-Data-Age": {
    description:
      "Age of the data in whole seconds: since the source's latest response, plus the age that an upstream stated in it; before the first, since the server's start.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  "Flarewire-Observed-At": {
    description: "Event time of the latest data; absent before the first.",
    schema: text("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$"),
    example: "2017-11-12T08:24:00.000Z",
  },
  "Flarewire-Source-State": {
    description: "State of the data source: `live`, `stale` (silent for too long) or `down` (failing).",
    schema: { type: "string", enum: ["live", "stale", "down"] },
    example: "live",
  },
  "Flarewire-Origin": {
    description: "The kind of market.",
    schema: { type: "string", enum: ["live", "recorded", "simulated"] },
    example: "recorded",
  },
  "Flarewire-Facts": {
    description: "The facts that the source provides; others have neutral values.",
    schema: text(`^(none|${FACT}(, ${FACT})*)$`),
    example: "trades, liquidity",
  },
  "Flarewire-Plan": {
    description: "The plan of the response, from a server with keys.",
    schema: { type: "string", enum: PLANS },
    example: "pro",
  },
  RateLimit: {
    description:
      "Remaining requests, and the seconds until all are available again: of a key with a limit, or of an address with too many requests or new streams.",
    schema: text('^"(?:key|address|address-streams)";r=\\d+;t=\\d+$'),
    example: '"key";r=59;t=1',
  },
  "RateLimit-Policy": {
    description: "Number of requests allowed, and the seconds of the window. Sent together with `RateLimit`.",
    schema: text('^"(?:key|address|address-streams)";q=\\d+;w=\\d+$'),
    example: '"key";q=60;w=60',
  },
  "WWW-Authenticate": {
    description: "A key is required.",
    schema: { type: "string", const: CHALLENGE },
    example: CHALLENGE,
  },
  ETag: {
    description:
      "Identifies these bytes, in any process of the server and after a restart, for `If-None-Match`.",
    schema: text('^"[!#-~]+"$'),
    example: '"q7Vb0mZkXw3T_c1e"',
  },
  "Cache-Control": {
    description:
      "`no-cache`: revalidate before each use. `no-transform`: a stream. `immutable`: a page that never changes.",
    schema: {
      type: "string",
      enum: ["no-cache", "no-store", "no-cache, no-transform", "max-age=60", ...Object.values(PAGE_CACHING)],
    },
    example: "no-cache",
  },
  Vary: {
    description: "The request headers on which the response depends.",
    schema: text("^[A-Za-z-]+(, [A-Za-z-]+)*$"),
    example: "Accept-Encoding",
  },
  Link: {
    description:
      'Related resources: the stream (`rel="alternate"`), the next page of events (`rel="next"`), or the snapshot that replaces a lost cursor (`rel="current"`).',
    schema: text('^<[^>]+>; rel="(alternate|next|current)"'),
    example: '</api/v1/stream>; rel="alternate"; title="events over WebSocket"',
  },
  "Retry-After": {
    description: "Seconds to wait before a retry.",
    schema: { type: "integer", minimum: 0 },
    example: 5,
  },
  Allow: {
    description: "The methods that the path supports.",
    schema: text("^[A-Z]+(, [A-Z]+)*$"),
    example: "GET, HEAD, OPTIONS",
  },
  Upgrade: { description: "The protocol of this path.", schema: text("^websocket$"), example: "websocket" },
  "Content-Security-Policy": {
    description: "The page contacts only this server, and runs only its own scripts.",
    schema: text("^default-src 'none';"),
    example: "default-src 'none'; script-src 'self'",
  },
} as const satisfies Record<string, HeaderContract>;

export type HeaderName = keyof typeof HEADERS;

/** The headers about the freshness of the data. */
export const FRESHNESS_HEADERS = [
  "Flarewire-Data-Age",
  "Flarewire-Observed-At",
  "Flarewire-Source-State",
  "Flarewire-Origin",
  "Flarewire-Facts",
] as const satisfies readonly HeaderName[];

/** The headers about a key's plan and limits. */
export const KEY_HEADERS = [
  "Flarewire-Plan",
  "RateLimit",
  "RateLimit-Policy",
] as const satisfies readonly HeaderName[];
