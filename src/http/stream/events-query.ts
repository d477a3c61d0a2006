import { type ConnectQuery, OLDEST, type PollQuery, resolveChannels } from "../../hub/index.ts";
import { FlarewireError, type Rights } from "../../protocol/index.ts";
import { invalid } from "../connections/admission.ts";
import { readStreamQuery } from "./websocket-admission.ts";

/** Default number of events in a response. */
export const DEFAULT_LIMIT = 100;
/** Maximum number of events that a request may ask for. */
export const MAX_LIMIT = 1_000;
export const MAX_WAIT_S = 60;

/** Reads a stream's query. `Last-Event-ID` overrides `after`, because a browser updates it. */
export function readSseQuery(query: unknown, lastEventId: string | undefined, rights: Rights): ConnectQuery {
  const given = withChannels(query);
  for (const field of ["limit", "wait"]) {
    if (field in given) throw invalid(field, given[field], "left out: streams have no pages");
  }
  const after = lastEventId === undefined || lastEventId === "" ? {} : { after: lastEventId };
  return readStreamQuery({ ...given, ...after }, rights);
}

/** Reads the query of a long poll. Throws `invalid-parameter`, `unknown-channel` or `forbidden`. */
export function readPollQuery(query: unknown, rights: Rights): PollQuery {
  const given = withChannels(query);
  if ("mode" in given)
    throw invalid("mode", given.mode, "left out: only streams have modes; a poll returns every event");
  if ("client" in given) throw invalid("client", given.client, "left out: a poll replaces no connection");
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

/** Selects the default channels (`*`), because neither transport can add some later. */
function withChannels(query: unknown): Record<string, unknown> {
  return { channels: "*", ...(typeof query === "object" ? query : {}) };
}

/** Reads a whole number. Throws `invalid-parameter`. */
export function readWhole(
  field: string,
  value: unknown,
  absent: number,
  least: number,
  most: number,
): number {
  if (value === undefined) return absent;
  const whole = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (whole >= least && whole <= most) return whole;
  throw invalid(field, value, `a whole number from ${least} to ${most}`);
}
