import { PLANS } from "../../protocol/index.ts";
import { CHALLENGE } from "../access/access.ts";
import type { JsonSchema } from "./schemas.ts";

/** What the contract says of a header field of an answer. */
interface HeaderContract {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: string | number;
}

const text = (pattern: string): JsonSchema => ({ type: "string", pattern });
const CURSOR = "[0-9a-z]{4,32}-(0|[1-9]\\d{0,14})(-[0-9a-z]{1,12})?";
const FACT = "(trades|liquidity|listings|profiles)";

/** The fields that an answer may carry and that mean something to a client, beside those of HTTP itself. */
export const HEADERS = {
  "Flarewire-Cursor": {
    description:
      "The place in the log that the answer is of: give it to a stream or to a poll as `after` to go on from there.",
    schema: text(`^${CURSOR}$`),
    example: "13ac274a9f68b758-101",
  },
  "Flarewire-Data-Age": {
    description: "Seconds since the source was last heard of.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  "Flarewire-Observed-At": {
    description: "Event time of the data last seen; absent before the first.",
    schema: text("^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$"),
    example: "2017-11-12T08:24:00.000Z",
  },
  "Flarewire-Source-State": {
    description: "How the data source fares: `live`, `stale` (no news for too long) or `down` (it fails).",
    schema: { type: "string", enum: ["live", "stale", "down"] },
    example: "live",
  },
  "Flarewire-Origin": {
    description: "What kind of market is served.",
    schema: { type: "string", enum: ["live", "recorded", "simulated"] },
    example: "recorded",
  },
  "Flarewire-Facts": {
    description: "What the source can know; of other facts neutral values are served.",
    schema: text(`^(none|${FACT}(, ${FACT})*)$`),
    example: "trades, liquidity",
  },
  "Flarewire-Plan": {
    description: "Of a server that knows keys: the plan by which it answered.",
    schema: { type: "string", enum: PLANS },
    example: "pro",
  },
  RateLimit: {
    description:
      "Of a key with a bound, or an address that asks too often: how many requests are left, and in how many seconds all are again.",
    schema: text('^"(?:key|address)";r=\\d+;t=\\d+$'),
    example: '"key";r=59;t=1',
  },
  "RateLimit-Policy": {
    description:
      "Of a key with a bound, or an address that asks too often: how many requests it may make in how many seconds.",
    schema: text('^"(?:key|address)";q=\\d+;w=\\d+$'),
    example: '"key";q=60;w=60',
  },
  "WWW-Authenticate": {
    description: "That a key is needed.",
    schema: { type: "string", const: CHALLENGE },
    example: CHALLENGE,
  },
  ETag: {
    description:
      "Names these bytes, in whichever process of the server and after a restart too. Send it back as `If-None-Match`, and while they are the same the answer is 304 without a body.",
    schema: text('^"[!#-~]+"$'),
    example: '"q7Vb0mZkXw3T_c1e"',
  },
  "Cache-Control": {
    description: "`no-cache`: keep it, but ask before each use. `no-store`: do not keep it.",
    schema: { type: "string", enum: ["no-cache", "no-store", "no-cache, no-transform"] },
    example: "no-cache",
  },
  Vary: {
    description: "The request fields on which the answer depends.",
    schema: text("^[A-Za-z-]+(, [A-Za-z-]+)*$"),
    example: "Accept-Encoding",
  },
  Link: {
    description:
      'Where to go on: the stream (`rel="alternate"`), the next page of events (`rel="next"`), the snapshot that heals a lost cursor (`rel="current"`).',
    schema: text('^<[^>]+>; rel="(alternate|next|current)"'),
    example: '</api/v1/stream>; rel="alternate"; title="events over WebSocket"',
  },
  "Retry-After": {
    description: "Seconds after which to ask again.",
    schema: { type: "integer", minimum: 0 },
    example: 5,
  },
  Allow: {
    description: "The methods that the address takes.",
    schema: text("^[A-Z]+(, [A-Z]+)*$"),
    example: "GET, HEAD, OPTIONS",
  },
  Upgrade: { description: "What this address speaks.", schema: text("^websocket$"), example: "websocket" },
  "Content-Security-Policy": {
    description: "The page asks nobody but this server, and runs no script but its own.",
    schema: text("^default-src 'none';"),
    example: "default-src 'none'; script-src 'self'",
  },
} as const satisfies Record<string, HeaderContract>;

export type HeaderName = keyof typeof HEADERS;

/** The fields that say how fresh the data is. */
export const FRESHNESS_HEADERS = [
  "Flarewire-Data-Age",
  "Flarewire-Observed-At",
  "Flarewire-Source-State",
  "Flarewire-Origin",
  "Flarewire-Facts",
] as const satisfies readonly HeaderName[];

/** The fields by which a server that knows keys tells what a key has. */
export const KEY_HEADERS = [
  "Flarewire-Plan",
  "RateLimit",
  "RateLimit-Policy",
] as const satisfies readonly HeaderName[];
