import { UTC_TIME } from "../../base/lib/time/utc-time.ts";
import { GROUPS, isAdditional, RecordWindow } from "../../base/model/index.ts";
import { CHANNEL_PATTERNS, CHANNELS, EVENT_NAMES } from "../../base/protocol/index.ts";
import { CURSOR_PATTERN, HEADERS } from "../../extensions/docs/contracts/headers.ts";
import { type JsonSchema, refTo } from "../../extensions/docs/contracts/schemas.ts";
import {
  DEFAULT_RECORDS,
  DEFAULT_WINDOW,
  MAX_RECORDS,
  PAGE_CURSOR,
} from "../../extensions/history/http/history-query.ts";
import { DEFAULT_LIST, PAIR_LISTS, PAIR_NAME } from "../../extensions/pairlist/pair-query.ts";
import { MAX_PATH_PART } from "./http-settings.ts";
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_WAIT_S } from "./stream/events-query.ts";

export interface ParameterContract {
  readonly name: string;
  readonly in: "query" | "header" | "path";
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: string | number | boolean | readonly string[];
  /** Lists are written as `a,b`. */
  readonly style?: "form";
  readonly explode?: false;
  /** True for a part of the path. */
  readonly required?: true;
}

export function queryNames(parameters: readonly ParameterContract[]): readonly string[] {
  return parameters.flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : []));
}

const pattern: JsonSchema = {
  type: "string",
  enum: ["*", ...new Set([...CHANNEL_PATTERNS.filter((name) => name.endsWith(".*")), ...CHANNELS])],
};

const list = (items: JsonSchema): JsonSchema => ({ type: "array", minItems: 1, maxItems: 64, items });

function query(
  name: string,
  description: string,
  schema: JsonSchema,
  example?: ParameterContract["example"],
): ParameterContract {
  const written = schema.type === "array" ? ({ style: "form", explode: false } as const) : {};
  return {
    name,
    in: "query",
    description,
    schema,
    ...written,
    ...(example === undefined ? {} : { example }),
  };
}

const LIST_TEXT =
  "`pro`: the exchange's flares, at once, newest first. `free`: those that are at least 5 minutes old and have no canary. `chart`: the chart of the exchange. `any`: a pattern for every pair, which tells a bot that this server runs and has fresh data.";

const UTC: JsonSchema = { type: "string", pattern: UTC_TIME.source };
const NAME: JsonSchema = { type: "string", minLength: 1, maxLength: 64 };

/** Parameters that several transports share. A list may also be given as repeated parameters. */
const CHOICE = {
  channels: query("channels", "Channels or patterns, separated by commas.", list(pattern), ["flares.*"]),
  tokens: query("tokens", "Only items with these addresses; case is ignored.", list(refTo("Address"))),
  symbols: query(
    "symbols",
    "Only items with these symbols, or flares of the exchange with these pairs, such as `BTC/USDT`; case is ignored.",
    list({ type: "string", minLength: 1, maxLength: 64 }),
    ["CAKE"],
  ),
  minLiquidity: query(
    "min_liquidity",
    "Only items with at least this liquidity in US dollars, now or, with `sticky`, at any earlier time.",
    { type: "number", minimum: 0 },
    50_000,
  ),
  minPriceChange: query(
    "min_price_change",
    "Only items whose price change is at least this percentage, now or, with `sticky`, at any earlier time. It may be negative.",
    { type: "number" },
    10,
  ),
  sticky: query(
    "sticky",
    "`false`: an item is selected while it meets the filter. `true`: an item that met the filter once stays selected until it leaves its list. Default: `false` without `names`, `true` with `names`. Requires a parameter that selects items: `tokens`, `symbols`, `min_liquidity` or `min_price_change`.",
    { type: "boolean" },
  ),
  names: query(
    "names",
    "Only events with these names.",
    { ...list(refTo("EventName")), maxItems: EVENT_NAMES.length },
    ["flare-started", "flare-finished"],
  ),
  snapshot: query("snapshot", "Streams: `false` omits the lists. JSON: `true` adds them.", {
    type: "boolean",
  }),
  mode: query(
    "mode",
    "Streams only: with `latest`, a slow client receives current lists instead of each event.",
    { type: "string", enum: ["events", "latest"], default: "events" },
  ),
  ticket: query(
    "ticket",
    "Streams only: a ticket from `POST /api/v1/tickets`, for clients that cannot send a key in a header.",
    { type: "string" },
  ),
  client: query(
    "client",
    "Streams only: a random id of your choice, the same for each connection. A new connection replaces the previous one.",
    { type: "string", pattern: "^[-.~_0-9A-Za-z]{8,64}$" },
  ),
} as const;

/** The group, for resources with flares. */
export const GROUP_PARAMETER = query(
  "group",
  "The group whose flares are served. Default: `bsc`.",
  { ...refTo("Group"), default: "bsc" },
  "exchange",
);

/** The group of charts and leaderboards. There is nothing to choose without additional groups. */
export const RANKING_PARAMETERS: readonly ParameterContract[] = GROUPS.some(isAdditional)
  ? [query("group", "An additional group whose lists are served too. Default: none.", refTo("Group"))]
  : [];

export const HISTORY_PARAMETERS: readonly ParameterContract[] = [
  query(
    "from",
    "Only flares that finished at this UTC time or later. A date is its midnight.",
    UTC,
    "2026-01-31T00:00:00Z",
  ),
  query("to", "Only flares that finished at this UTC time or earlier. A date is its midnight.", UTC),
  GROUP_PARAMETER,
  query("symbol", "Only flares of tokens with this symbol; case is ignored.", NAME, "CAKE"),
  query(
    "address",
    "Only flares of the token with this address; case is ignored. Tokens of the exchange have no address: give the symbol instead, in its exact case.",
    NAME,
  ),
  query("limit", "Maximum number of flares.", {
    type: "integer",
    minimum: 1,
    maximum: MAX_RECORDS,
    default: DEFAULT_RECORDS,
  }),
  query("cursor", "`next` of the previous page. Repeat that page's other parameters.", {
    type: "string",
    pattern: PAGE_CURSOR.source,
  }),
];

/** Selects a past state of a resource. */
export const AT_PARAMETER = query(
  "at",
  "Returns the state at this UTC event time, rounded down to the minute. Any stored minute that is over is available.",
  UTC,
);

export const RECORD_PARAMETERS: readonly ParameterContract[] = [
  query("window", "Length of the window.", {
    type: "string",
    enum: RecordWindow.options,
    default: DEFAULT_WINDOW,
  }),
  GROUP_PARAMETER,
];

const PAIR_NAME_SCHEMA: JsonSchema = { type: "string", pattern: PAIR_NAME.source };

export const PAIR_PARAMETERS: readonly ParameterContract[] = [
  query("list", LIST_TEXT, { type: "string", enum: PAIR_LISTS, default: DEFAULT_LIST }),
  query("exchange", "Only pairs of this exchange; case is ignored.", PAIR_NAME_SCHEMA, "binance"),
  query("quote", "Only pairs with this quote currency; case is ignored.", PAIR_NAME_SCHEMA, "USDT"),
  query(
    "settle",
    "Pairs of futures that settle in this currency, such as `BTC/USDT:USDT`. Default: pairs of the spot market.",
    PAIR_NAME_SCHEMA,
  ),
];

/** The parameters of freqtrade's consumers. */
export const PRODUCER_PARAMETERS: readonly ParameterContract[] = [
  query("token", "The key, if the server requires one. It is in the URL, because freqtrade sends it there.", {
    type: "string",
  }),
  ...PAIR_PARAMETERS,
];

/** The parameter of `/api/v1/flares/{id}`. */
export const FLARE_ID: ParameterContract = {
  name: "id",
  in: "path",
  required: true,
  description: "The flare's id, as in lists and events.",
  schema: refTo("Id"),
};

/** The parameters of `/api/v1/tokens/{group}/{token}`. */
export const TOKEN_PATH: readonly ParameterContract[] = [
  {
    name: "group",
    in: "path",
    required: true,
    description: "The token's group.",
    schema: refTo("Group"),
    example: "bsc",
  },
  {
    name: "token",
    in: "path",
    required: true,
    description:
      "The token's address, or its symbol if no other token of the group has it, percent-encoded. Case is ignored. `0x` and hexadecimal digits are an address, except on the exchange.",
    schema: { type: "string", minLength: 1, maxLength: MAX_PATH_PART },
    example: "CAKE",
  },
];

const CURSOR_AFTER = {
  type: "string",
  maxLength: 64,
  pattern: CURSOR_PATTERN,
};

const FILTER = [
  CHOICE.tokens,
  CHOICE.symbols,
  CHOICE.minLiquidity,
  CHOICE.minPriceChange,
  CHOICE.sticky,
  CHOICE.names,
];

export const STREAM_PARAMETERS: readonly ParameterContract[] = [
  CHOICE.channels,
  query("after", "Continue after this cursor. Default: start at the head, with the lists.", CURSOR_AFTER),
  ...FILTER,
  CHOICE.mode,
  CHOICE.snapshot,
  query("mirror", "For a server that mirrors this one: adds `base` to the lists.", {
    type: "boolean",
    default: false,
  }),
  CHOICE.client,
  CHOICE.ticket,
];

export const EVENTS_PARAMETERS: readonly ParameterContract[] = [
  query(
    "after",
    "Only events after this cursor. JSON only: `oldest` for all stored events. Default: the head.",
    {
      anyOf: [CURSOR_AFTER, { type: "string", const: "oldest" }],
    },
    "oldest",
  ),
  query(
    "limit",
    "JSON only: maximum number of events per response.",
    { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    10,
  ),
  query("wait", "JSON only: seconds to wait for an event if there is none.", {
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT_S,
    default: 0,
  }),
  { ...CHOICE.channels, description: `${CHOICE.channels.description} Default: all.` },
  ...FILTER,
  CHOICE.snapshot,
  CHOICE.mode,
  CHOICE.client,
  CHOICE.ticket,
  {
    name: "Last-Event-ID",
    in: "header",
    description:
      "Server-sent events: the cursor, which a browser sends on reconnecting. Unless empty, it overrides `after`.",
    schema: { type: "string", maxLength: CURSOR_AFTER.maxLength },
  },
];

/** The parameters of every path whose responses have an entity tag. */
export const CONDITIONAL_PARAMETERS: readonly ParameterContract[] = [
  {
    name: "If-None-Match",
    in: "header",
    description: "The `ETag` of your copy. If it is current, the response is 304 without a body.",
    schema: { type: "string" },
    example: HEADERS.ETag.example,
  },
];
