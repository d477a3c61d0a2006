import { type ConnectQuery, OLDEST, type PollQuery, resolveChannels } from "../../hub/index.ts";
import { FlarewireError, type Plan } from "../../protocol/index.ts";
import { invalid } from "../connections/admission.ts";
import { readStreamQuery } from "./websocket-admission.ts";

/** Events in an answer where the request names no limit. */
export const DEFAULT_LIMIT = 100;
/** Most that a request may ask for. */
export const MAX_LIMIT = 1_000;
/** Longest wait, in seconds. */
export const MAX_WAIT_S = 60;

/** What a stream of server-sent events is to bring. `Last-Event-ID` is what a browser adds when it connects again: newer than the address. */
export function readSseQuery(
  query: unknown,
  lastEventId: string | undefined,
  plan: Plan | undefined,
): ConnectQuery {
  const given = withChannels(query);
  for (const field of ["limit", "wait"]) {
    if (field in given) throw invalid(field, given[field], "left out: a stream has no pages");
  }
  const after = lastEventId === undefined || lastEventId === "" ? {} : { after: lastEventId };
  return readStreamQuery({ ...given, ...after }, plan);
}

/** What one request for events as JSON asks. Throws FlarewireError `invalid-parameter`, `unknown-channel` or `forbidden` with the field. */
export function readPollQuery(query: unknown, plan: Plan | undefined): PollQuery {
  const given = withChannels(query);
  if ("mode" in given)
    throw invalid(
      "mode",
      given.mode,
      "left out: it is for streams; the answer to a request has every event of its page",
    );
  if ("client" in given) throw invalid("client", given.client, "left out: a request takes no place over");
  if (plan !== undefined && "ticket" in given) {
    const message =
      'ticket opens streams; a request for a page brings its key in "Authorization: Bearer KEY"';
    throw new FlarewireError("invalid-parameter", message, { field: "ticket", bound: "left out" });
  }
  const fromOldest = given.after === OLDEST;
  const {
    channels = [],
    filter,
    after,
    snapshot,
  } = readStreamQuery({ ...given, ...(fromOldest ? { after: undefined } : {}) }, plan);
  return {
    channels: resolveChannels(channels, plan),
    after: fromOldest ? OLDEST : after,
    filter,
    snapshot,
    limit: readWhole("limit", given.limit, DEFAULT_LIMIT, 1, MAX_LIMIT),
    waitMs: 1_000 * readWhole("wait", given.wait, 0, 0, MAX_WAIT_S),
  };
}

/** Neither transport has commands, so that an address without channels can only mean all. */
function withChannels(query: unknown): Record<string, unknown> {
  return { channels: "*", ...(typeof query === "object" ? query : {}) };
}

function readWhole(field: string, value: unknown, absent: number, least: number, most: number): number {
  if (value === undefined) return absent;
  const whole = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
  if (whole >= least && whole <= most) return whole;
  throw invalid(field, value, `a whole number from ${least} to ${most}`);
}
