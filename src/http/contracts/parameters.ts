import { CHANNELS, EVENT_NAMES } from "../../protocol/index.ts";
import { DEFAULT_LIMIT, MAX_LIMIT, MAX_WAIT_S } from "../stream/events-query.ts";
import { type JsonSchema, refTo } from "./schemas.ts";

/** A parameter of OpenAPI. */
export interface ParameterContract {
  readonly name: string;
  readonly in: "query" | "header";
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: string | number | boolean | readonly string[];
  /** How lists are written: `a,b`. */
  readonly style?: "form";
  readonly explode?: false;
}

/** The names of those that stand in the address. */
export function queryNames(parameters: readonly ParameterContract[]): readonly string[] {
  return parameters.flatMap((parameter) => (parameter.in === "query" ? [parameter.name] : []));
}

const PREFIXES = [
  ...new Set(CHANNELS.filter((name) => name.includes(".")).map((name) => name.split(".")[0])),
];

const pattern: JsonSchema = {
  type: "string",
  enum: ["*", ...PREFIXES.map((prefix) => `${prefix}.*`), ...CHANNELS],
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

/** The parameters of each address that has any. Lists may also be given as repeated parameters. */
const CHOICE = {
  channels: query("channels", "Channels or patterns, separated by commas.", list(pattern), ["flares.*"]),
  tokens: query("tokens", "Only items of these addresses, in any case.", list(refTo("Address"))),
  symbols: query(
    "symbols",
    "Only items of these symbols, in any case.",
    list({ type: "string", minLength: 1, maxLength: 64 }),
    ["CAKE"],
  ),
  minLiquidity: query(
    "min_liquidity",
    "Only items of this liquidity or more, in US dollars, now, or, with `sticky`, at some time.",
    { type: "number", minimum: 0 },
    50_000,
  ),
  minPriceChange: query(
    "min_price_change",
    "Only items whose price change is this many percent or more now, or, with `sticky`, was at some time; below 0 for falls.",
    { type: "number" },
    10,
  ),
  sticky: query(
    "sticky",
    "`false`: an item is selected while it meets the filter. `true`: an item that met it once stays until it leaves its list. Default: `false` without `names`, `true` with `names`. Only with a parameter that selects items: `tokens`, `symbols`, `min_liquidity` or `min_price_change`.",
    { type: "boolean" },
  ),
  names: query(
    "names",
    "Only events of these names.",
    { ...list(refTo("EventName")), maxItems: EVENT_NAMES.length },
    ["flare-started", "flare-finished"],
  ),
  snapshot: query("snapshot", "Of a stream: `false` leaves out the lists in the first answer.", {
    type: "boolean",
  }),
  mode: query(
    "mode",
    "Of a stream only: `latest` for who may lag, and then wants the lists as they are instead of each event.",
    { type: "string", enum: ["events", "latest"], default: "events" },
  ),
  ticket: query(
    "ticket",
    "Of a stream only: a ticket from `POST /api/v1/tickets`, where no header field can bring the key.",
    { type: "string" },
  ),
  client: query(
    "client",
    "Of a stream only: an id of your own, chosen by chance, the same on each connection; a new connection takes the place of the one before.",
    { type: "string", pattern: "^[-.~_0-9A-Za-z]{8,64}$" },
  ),
} as const;

const CURSOR_AFTER = {
  type: "string",
  maxLength: 64,
  pattern: "^[0-9a-z]{4,32}-(0|[1-9]\\d{0,14})(-[0-9a-z]{1,12})?$",
};

/** Of the WebSocket's address. */
export const STREAM_PARAMETERS: readonly ParameterContract[] = [
  CHOICE.channels,
  query("after", "Continue behind this cursor. Left out: begin at the head, with the lists.", CURSOR_AFTER),
  CHOICE.tokens,
  CHOICE.symbols,
  CHOICE.minLiquidity,
  CHOICE.minPriceChange,
  CHOICE.sticky,
  CHOICE.names,
  CHOICE.mode,
  CHOICE.snapshot,
  query("mirror", "For a server that mirrors this one: with the lists comes `base`.", {
    type: "boolean",
    default: false,
  }),
  CHOICE.client,
  CHOICE.ticket,
];

/** Of events over HTTP. */
export const EVENTS_PARAMETERS: readonly ParameterContract[] = [
  query(
    "after",
    "The events behind this cursor, or, as JSON only, behind `oldest`: everything that is held. Left out: the head.",
    {
      anyOf: [CURSOR_AFTER, { type: "string", const: "oldest" }],
    },
    "oldest",
  ),
  query(
    "limit",
    "As JSON only: most events of an answer.",
    { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    10,
  ),
  query("wait", "As JSON only: seconds to wait for an event when there is none.", {
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT_S,
    default: 0,
  }),
  { ...CHOICE.channels, description: `${CHOICE.channels.description} Left out: all.` },
  CHOICE.tokens,
  CHOICE.symbols,
  CHOICE.minLiquidity,
  CHOICE.minPriceChange,
  CHOICE.sticky,
  CHOICE.names,
  CHOICE.snapshot,
  CHOICE.mode,
  CHOICE.client,
  CHOICE.ticket,
  {
    name: "Last-Event-ID",
    in: "header",
    description:
      "Of server-sent events: the cursor, as a browser sends it when it connects again; it wins over `after`.",
    schema: { type: "string", maxLength: 48 },
  },
];

/** Of every address whose answers have an entity tag. */
export const CONDITIONAL_PARAMETERS: readonly ParameterContract[] = [
  {
    name: "If-None-Match",
    in: "header",
    description:
      "The `ETag` of the answer that you hold: while it is the newest the answer is 304 without a body.",
    schema: { type: "string" },
    example: '"13ac274a9f68b758-101"',
  },
];
