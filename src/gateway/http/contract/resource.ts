import { z } from "zod";
import { isoTime } from "../../../base/lib/time/iso-time.ts";
import { Group, groupSuggestion } from "../../../base/model/index.ts";
import type { ErrorCode } from "../../../base/protocol/index.ts";
import { type Parameter, type ParameterSet, text } from "./parameters.ts";
import { FRESHNESS_HEADERS, HEADERS, type HeaderName, KEY_HEADERS } from "./response-headers.ts";
import type { RouteContract, RouteResponse } from "./route-contract.ts";

const UTC_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/;
const UTC_BOUND = "a UTC time such as 2026-01-31T12:00:00Z, or a date";

/** A UTC time, or a date as its midnight. The value is in milliseconds since 1970. */
export const UtcTime = text(UTC_TIME, UTC_BOUND).transform((given, { issues }) => {
  const ms = Date.parse(given);
  // Date.parse takes 30 February as 2 March.
  if (Number.isNaN(ms) || !given.startsWith(isoTime(ms).slice(0, 10)))
    issues.push({ code: "custom", message: UTC_BOUND, input: given });
  return ms;
});

/** Selects a past state of a resource. A server without a history has no such parameter. */
export const AT = {
  schema: UtcTime,
  description:
    "Returns the state at this UTC event time, rounded down to the minute. Any stored minute that is over is available.",
  example: "2017-11-12T08:24:00Z",
  cost: 12,
} as const satisfies Parameter;

/** Selects the group, for resources with flares. */
export const GROUP = {
  schema: Group.default("bsc"),
  description: "The group whose flares are served. Default: `bsc`.",
  example: "exchange",
  hint: groupSuggestion,
} as const satisfies Parameter;

/** The header fields of requests to a route with entity tags. */
export const CONDITIONAL = {
  "If-None-Match": {
    schema: z.string(),
    description: "The `ETag` of your copy. If it is current, the response is 304 without a body.",
    example: HEADERS.ETag.example,
  },
} as const satisfies ParameterSet;

interface ResourceText<Q extends ParameterSet>
  extends Pick<RouteContract<Q>, "name" | "path" | "summary" | "params" | "channels" | "sample"> {
  readonly query: Q;
  readonly schema: z.ZodType;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Header fields of this resource only. Default: none. */
  readonly headers?: readonly HeaderName[];
}

const PAST_HEADER = "Flarewire-At";
/** Problems of resources that select by the query. */
const PROBLEMS = ["invalid-parameter", "unauthorized", "forbidden", "not-ready"] as const;
const PAST_PROBLEM: ErrorCode = "time-gone";

/** Describes a resource: JSON with an entity tag, compression and the `Flarewire-*` fields. */
export function resource<Q extends ParameterSet>({
  schema,
  example,
  examples,
  headers = [],
  ...route
}: ResourceText<Q>): RouteContract<Q> {
  const isOne = route.params !== undefined;
  return {
    ...route,
    method: "GET",
    tag: "resources",
    headers: CONDITIONAL,
    responses: conditional(
      {
        description: route.summary,
        content: { "application/json": { schema, ...(examples ? { examples } : { example }) } },
      },
      [
        PAST_HEADER,
        ...headers,
        ...(["ETag", "Cache-Control", "Vary", "Link", "Flarewire-Cursor"] as const),
        ...FRESHNESS_HEADERS,
        ...KEY_HEADERS,
      ],
    ),
    problems: [...PROBLEMS, PAST_PROBLEM, "over-capacity", ...(isOne ? (["not-found"] as const) : [])],
  };
}

/** Returns the responses of a route with entity tags: 200, and 304 with the same header fields. */
export function conditional(
  ok: Omit<RouteResponse, "headers">,
  headers: readonly HeaderName[],
): RouteContract["responses"] {
  return { 200: { ...ok, headers }, 304: { description: "Your copy is up to date.", headers } };
}

/** Returns a resource's contract on a server without past states, which has no parameter `at`. */
export function withoutPast(contract: RouteContract): RouteContract {
  const { at: _at, ...query } = contract.query ?? {};
  const responses = Object.entries(contract.responses).map(([status, response]) => [
    status,
    { ...response, headers: response.headers.filter((name) => name !== PAST_HEADER) },
  ]);
  return {
    ...contract,
    query,
    responses: Object.fromEntries(responses),
    problems: contract.problems.filter((code) => code !== PAST_PROBLEM),
  };
}
