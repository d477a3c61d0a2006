import { z } from "zod";
import {
  CHANNEL_PATTERNS,
  CHANNELS,
  FlarewireError,
  type Rights,
  Subscribe,
} from "../../../base/protocol/index.ts";
import { type ConnectQuery, checkQuery } from "../../hub/index.ts";
import { type Parameter, type ParameterSet, readQuery, text } from "../contract/parameters.ts";
import { CURSOR_PATTERN, HEADERS } from "../contract/response-headers.ts";
import { FILTER_QUERY, readFilter } from "./filter-query.ts";

const MAX_CHANNELS = 64;

const PATTERNS = ["*", ...new Set([...CHANNEL_PATTERNS.filter((name) => name.endsWith(".*")), ...CHANNELS])];

/** A cursor. The hub checks it, with a message for each mistake. */
export const CursorForm = z.string("given once").meta({ maxLength: 64, pattern: CURSOR_PATTERN });

export const CHANNELS_PARAMETER = {
  // The hub checks the names, because the rights decide which exist.
  schema: z.array(z.string().meta({ enum: PATTERNS })).meta({ minItems: 1, maxItems: MAX_CHANNELS }),
  description: "Channels or patterns, separated by commas.",
  example: ["flares.*"],
} as const satisfies Parameter;

export const MODE = {
  schema: z.enum(["events", "latest"], "events or latest"),
  description:
    "Streams only: with `latest`, a slow client receives current lists instead of each event. Default: `events`.",
  example: "latest",
  only: "streams",
} as const satisfies Parameter;

export const SNAPSHOT = {
  schema: z.boolean(),
  description: "Streams: `false` omits the lists. JSON: `true` adds them.",
  example: true,
} as const satisfies Parameter;

export const MAX_MESSAGE = {
  schema: Subscribe.shape.max_message.unwrap(),
  description: "Streams only: bytes of a message from which its lists come in parts.",
  example: 32_768,
  only: "streams",
} as const satisfies Parameter;

/** Identifies a client on all its connections, and lets it in without a header field. */
export const CLIENT_QUERY = {
  client: {
    // Long enough for random ids that do not collide; RFC 3986 unreserved characters only.
    schema: text(/^[-.~_0-9A-Za-z]{8,64}$/, "8 to 64 of A-Z, a-z, 0-9, - . _ ~"),
    description:
      "Streams only: a random id of your choice, the same for each connection. A new connection replaces the previous one.",
    example: "b7e2c1d09f3a4e58",
    only: "streams",
  },
  ticket: {
    schema: z.string(),
    description:
      "Streams only: a ticket from `POST /api/v1/tickets`, for clients that cannot send a key in a header.",
    example: "0123456789abcdef0123456789abcdef",
  },
} as const satisfies ParameterSet;

/**
 * The parameters of a WebSocket. None has a default to send, because a parameter that is given
 * requires `channels`.
 */
export const STREAM_QUERY = {
  channels: CHANNELS_PARAMETER,
  after: {
    schema: CursorForm,
    description: "Continue after this cursor. Default: start at the head, with the lists.",
    example: HEADERS["Flarewire-Cursor"].example,
  },
  ...FILTER_QUERY,
  mode: MODE,
  snapshot: SNAPSHOT,
  max_message: MAX_MESSAGE,
  mirror: {
    schema: z.boolean(),
    description: "For a server that mirrors this one: adds `base` to the lists.",
    example: true,
  },
  ...CLIENT_QUERY,
} as const satisfies ParameterSet;

/**
 * Reads the parameters that all transports share. Throws `invalid-parameter`, `unknown-channel` or
 * `forbidden`.
 */
export function readStreamQuery(query: unknown, rights: Rights): ConnectQuery {
  const { mode } = readQuery({ mode: MODE }, query);
  const filter = readFilter(Object(query));
  const { snapshot, max_message, mirror, channels, after } = STREAM_QUERY;
  const options = readQuery({ snapshot, max_message, mirror, channels, after }, query);
  checkCount(options.channels);
  const read: ConnectQuery = { ...options, filter, mode };
  checkQuery(read, rights);
  return read;
}

/** Reads the parameter `client`; `undefined` if absent. Throws `invalid-parameter`. */
export function readClientId(query: unknown): string | undefined {
  return readQuery({ client: CLIENT_QUERY.client }, query).client;
}

function checkCount(channels: readonly string[] | undefined): void {
  if (channels === undefined || channels.length <= MAX_CHANNELS) return;
  const bound = `at most ${MAX_CHANNELS} names`;
  const message = `channels has ${channels.length} names; it must have ${bound}`;
  throw new FlarewireError("invalid-parameter", message, { field: "channels", bound });
}
