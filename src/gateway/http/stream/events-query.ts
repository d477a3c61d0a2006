import { FlarewireError, type Rights } from "../../../base/protocol/index.ts";
import { type ConnectQuery, OLDEST, type PollQuery, resolveChannels } from "../../hub/index.ts";
import { invalid } from "../connections/admission.ts";
import { readStreamQuery } from "./websocket-admission.ts";

/** Default maximum number of events in a response. */
export const DEFAULT_LIMIT = 100;
/** Maximum number of events that a request may ask for. */
export const MAX_LIMIT = 1_000;
export const MAX_WAIT_S = 60;

/**
 * Reads an SSE query. `Last-Event-ID` overrides `after`: a reconnecting browser updates only that
 * field.
 */
export function readSseQuery(query: unknown, lastEventId: string | undefined, rights: Rights): ConnectQuery {
  const given = withDefaultChannels(query);
  for (const field of ["limit", "wait"]) {
    if (field in given) throw invalid(field, given[field], "left out: it is for polls only");
  }
  const after = lastEventId === undefined || lastEventId === "" ? {} : { after: lastEventId };
  return readStreamQuery({ ...given, ...after }, rights);
}

/** Reads the query of a long poll. Throws `invalid-parameter`, `unknown-channel` or `forbidden`. */
export function readPollQuery(query: unknown, rights: Rights): PollQuery {
  const given = withDefaultChannels(query);
  if ("mode" in given)
    throw invalid("mode", given.mode, "left out: only streams have modes; a poll returns every event");
  if ("client" in given) throw invalid("client", given.client, "left out: it is for streams only");
  if (rights.plan !== undefined && "ticket" in given) {
    const message = 'a ticket opens a stream; to poll, send "Authorization: Bearer KEY"';
    throw new FlarewireError("invalid-parameter", message, { field: "ticket", bound: "left out" });
  }
  const fromOldest = given.after === OLDEST;
  const {
    channels = [],
    filter,
    after,
    snapshot,
  } = readStreamQuery({ ...given, ...(fromOldest ? { after: undefined } : {}) }, rights);
  return {
    channels: resolveChannels(channels, rights),
    after: fromOldest ? OLDEST : after,
    filter,
    snapshot,
    limit: readWhole("limit", given.limit, DEFAULT_LIMIT, 1, MAX_LIMIT),
    waitMs: 1_000 * readWhole("wait", given.wait, 0, 0, MAX_WAIT_S),
  };
}

/**
 * Adds the default channels (`*`) if the query names none: unlike WebSockets, SSE and polls cannot
 * subscribe later.
 */
function withDefaultChannels(query: unknown): Record<string, unknown> {
  return { channels: "*", ...(typeof query === "object" ? query : {}) };
}

/** Reads a whole number; `fallback` if it is absent. Throws `invalid-parameter`. */
export function readWhole(
  field: string,
  value: unknown,
  fallback: number,
  least: number,
  most: number,
): number {
  if (value === undefined) return fallback;
  const whole = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (whole >= least && whole <= most) return whole;
  throw invalid(field, value, `a whole number from ${least} to ${most}`);
}
