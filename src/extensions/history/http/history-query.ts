import { parseUtcTime } from "../../../base/lib/time/utc-time.ts";
import { GROUPS, type Group, groupSuggestion, RecordWindow } from "../../../base/model/index.ts";
import { invalid, quote } from "../../../gateway/http/connections/admission.ts";
import { readWhole } from "../../../gateway/http/stream/events-query.ts";
import type { HistoryQuery, RecordQuery } from "../index.ts";

/** Default number of flares in a page. */
export const DEFAULT_RECORDS = 50;
/** Maximum number of flares that a request may ask for. */
export const MAX_RECORDS = 200;

export const DEFAULT_WINDOW: RecordWindow = "24h";

/** Position after a record: its finish in milliseconds since 1970 UTC, and its id. */
export const PAGE_CURSOR = /^(0|[1-9]\d{0,14})\.([-0-9A-Za-z_]{1,64})$/;

/** Reads a query. Throws `invalid-parameter`. */
export function readHistoryQuery(given: Readonly<Record<string, unknown>>): HistoryQuery {
  const query = {
    fromMs: readTime("from", given.from),
    toMs: readTime("to", given.to),
    symbol: readName("symbol", given.symbol),
    address: readName("address", given.address),
    after: readCursor(given.cursor),
    limit: readWhole("limit", given.limit, DEFAULT_RECORDS, 1, MAX_RECORDS),
    group: readGroup(given.group),
  };
  const { fromMs, toMs } = query;
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
    throw invalid("from", given.from, `at most to, which is ${quote(given.to)}`);
  return query;
}

/** Reads a query of the track record. Throws `invalid-parameter`. */
export function readRecordQuery(given: Readonly<Record<string, unknown>>): Omit<RecordQuery, "toMs"> {
  const { window = DEFAULT_WINDOW } = given;
  const known = RecordWindow.options.find((name) => name === window);
  if (known === undefined) throw invalid("window", window, `one of ${RecordWindow.options.join(", ")}`);
  return { window: known, group: readGroup(given.group) };
}

export function readGroup(value: unknown): Group | undefined {
  const known = GROUPS.find((name) => name === value);
  if (value !== undefined && known === undefined)
    throw invalid("group", value, `one of ${GROUPS.join(", ")}`, groupSuggestion(String(value)));
  return known;
}

/**
 * Reads a UTC time, or a date as its midnight; `undefined` if it is absent. Throws
 * `invalid-parameter`.
 */
export function readTime(field: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const atMs = typeof value === "string" ? parseUtcTime(value) : undefined;
  if (atMs === undefined) throw invalid(field, value, "a UTC time such as 2026-01-31T12:00:00Z, or a date");
  return atMs;
}

function readName(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.length >= 1 && value.length <= 64) return value;
  throw invalid(field, value, "one name of 1 to 64 characters");
}

function readCursor(value: unknown): HistoryQuery["after"] {
  if (value === undefined) return undefined;
  const match = typeof value === "string" ? PAGE_CURSOR.exec(value) : null;
  if (!match?.[2]) throw invalid("cursor", value, "the field next of an earlier page");
  return { finishedMs: Number(match[1]), id: match[2] };
}
