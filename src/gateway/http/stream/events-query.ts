import { z } from "zod";
import { FlarewireError, type Rights } from "../../../base/protocol/index.ts";
import { type ConnectQuery, OLDEST, type PollQuery, resolveChannels } from "../../hub/index.ts";
import { type ParameterSet, readQuery } from "../contract/parameters.ts";
import { UtcTime } from "../contract/resource.ts";
import { invalid } from "../problems/invalid.ts";
import { FILTER_QUERY } from "./filter-query.ts";
import {
  CHANNELS_PARAMETER,
  CLIENT_QUERY,
  CursorForm,
  MAX_MESSAGE,
  MODE,
  readStreamQuery,
  SNAPSHOT,
} from "./stream-query.ts";

/** Longest wait of a poll, in seconds: less than the 60 s that proxies wait by default. */
const MAX_WAIT_S = 55;

const PAGE = {
  limit: {
    schema: z.int().min(1).max(1_000).default(100),
    description: "JSON only: maximum number of events per response.",
    example: 10,
    only: "polls",
  },
  wait: {
    schema: z.int().min(0).max(60).default(0),
    description: `JSON only: seconds to wait for an event if there is none. The wait ends after ${MAX_WAIT_S} s.`,
    example: 1,
    only: "polls",
  },
} as const satisfies ParameterSet;

/** The parameters of polls and of server-sent events. */
export const EVENTS_QUERY = {
  after: {
    schema: z.union([CursorForm, z.literal(OLDEST), UtcTime], "given once"),
    description:
      "Only events after this cursor. JSON only: a UTC time, or `oldest` for all stored events. Default: the head.",
    example: OLDEST,
  },
  ...PAGE,
  channels: { ...CHANNELS_PARAMETER, description: `${CHANNELS_PARAMETER.description} Default: all.` },
  ...FILTER_QUERY,
  snapshot: SNAPSHOT,
  max_message: MAX_MESSAGE,
  mode: MODE,
  ...CLIENT_QUERY,
} as const satisfies ParameterSet;

/**
 * Reads an SSE query. `Last-Event-ID` overrides `after`: a reconnecting browser updates only that
 * field.
 */
export function readSseQuery(query: unknown, lastEventId: string | undefined, rights: Rights): ConnectQuery {
  const given = withDefaultChannels(query);
  refuseOthers("polls", given);
  const after = lastEventId === undefined || lastEventId === "" ? {} : { after: lastEventId };
  return readStreamQuery({ ...given, ...after }, rights);
}

/** Reads the query of a long poll. Throws `invalid-parameter`, `unknown-channel` or `forbidden`. */
export function readPollQuery(query: unknown, rights: Rights): PollQuery {
  const given = withDefaultChannels(query);
  if ("mode" in given)
    throw invalid("mode", given.mode, "left out: only streams have modes; a poll returns every event");
  refuseOthers("streams", given);
  if (rights.plan !== undefined && "ticket" in given) {
    const message = 'a ticket opens a stream; to poll, send "Authorization: Bearer KEY"';
    throw new FlarewireError("invalid-parameter", message, { field: "ticket", bound: "left out" });
  }
  // A date alone has the form of a cursor.
  const afterMs = /T/.test(String(given.after)) ? UtcTime.safeParse(given.after).data : undefined;
  const isCursor = given.after !== OLDEST && afterMs === undefined;
  const {
    channels = [],
    filter,
    after,
    snapshot,
  } = readStreamQuery({ ...given, ...(isCursor ? {} : { after: undefined }) }, rights);
  const { limit, wait } = readQuery(PAGE, given);
  return {
    channels: resolveChannels(channels, rights),
    after: isCursor ? after : String(given.after),
    afterMs,
    filter,
    snapshot,
    limit,
    waitMs: 1_000 * Math.min(wait, MAX_WAIT_S),
  };
}

/**
 * Adds the default channels (`*`) if the query names none: unlike WebSockets, SSE and polls cannot
 * subscribe later.
 */
function withDefaultChannels(query: unknown): Record<string, unknown> {
  return { channels: "*", ...(typeof query === "object" ? query : {}) };
}

/** Throws `invalid-parameter` for a parameter of the other requests. */
function refuseOthers(others: "streams" | "polls", given: Readonly<Record<string, unknown>>): void {
  const parameters: ParameterSet = EVENTS_QUERY;
  for (const [name, { only }] of Object.entries(parameters))
    if (only === others && name in given)
      throw invalid(name, given[name], `left out: it is for ${others} only`);
}

/** True if `Accept` names server-sent events and does not prefer JSON. Ignores wildcards. */
export function asksForSse(field: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const member of (field ?? "").split(",")) {
    const [type = "", ...parameters] = member.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(type, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  const sse = weights.get("text/event-stream") ?? 0;
  return sse > 0 && sse >= (weights.get("application/json") ?? 0);
}
