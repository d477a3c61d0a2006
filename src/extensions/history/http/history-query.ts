import { z } from "zod";
import { RecordWindow } from "../../../base/model/index.ts";
import {
  AT,
  GROUP,
  invalid,
  type ParameterSet,
  quote,
  readQuery,
  text,
  UtcTime,
} from "../../../gateway/http/index.ts";
import type { HistoryQuery, RecordQuery } from "../index.ts";

/** Position after a record: its finish in milliseconds since 1970 UTC, and its id. */
const PAGE_CURSOR = /^(0|[1-9]\d{0,14})\.([-0-9A-Za-z_]{1,64})$/;

const NAME_BOUND = "one name of 1 to 64 characters";
const Name = z.string(NAME_BOUND).min(1, NAME_BOUND).max(64, NAME_BOUND);

/** A page that nobody asked for before takes as much of the processor as this many small ones. */
const PAGE_COST = 4;

export const HISTORY_QUERY = {
  at: AT,
  from: {
    schema: UtcTime,
    description: "Only flares that finished at this UTC time or later. A date is its midnight.",
    example: "2026-01-31T00:00:00Z",
    cost: PAGE_COST,
  },
  to: {
    schema: UtcTime,
    description: "Only flares that finished at this UTC time or earlier. A date is its midnight.",
    example: "2026-02-01",
    cost: PAGE_COST,
  },
  group: GROUP,
  symbol: {
    schema: Name,
    description: "Only flares of tokens with this symbol; case is ignored.",
    example: "CAKE",
  },
  address: {
    schema: Name,
    description: "Only flares of the token with this address, or on the exchange with this exact symbol.",
    example: "0x9f5a7c0e6c6f0f5d6be1ad7df5ca1d0ee0c6f9ab",
  },
  limit: {
    schema: z.int().min(1).max(200).default(50),
    description: "Maximum number of flares.",
    example: 10,
  },
  cursor: {
    schema: text(PAGE_CURSOR, "the field next of an earlier page"),
    description: "`next` of the previous page. Repeat that page's other parameters.",
    example: "1769846400000.3b241101-e2bb-5255-8caf-4136c566a962",
    cost: PAGE_COST,
  },
} as const satisfies ParameterSet;

/** Reads a query. Throws `invalid-parameter`. */
export function readHistoryQuery(query: unknown): HistoryQuery {
  const { at: _at, ...parameters } = HISTORY_QUERY;
  const { from: fromMs, to: toMs, cursor, ...others } = readQuery(parameters, query);
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) {
    const period: Readonly<Record<string, unknown>> = Object(query);
    throw invalid("from", period.from, `at most to, which is ${quote(period.to)}`);
  }
  const [finishedMs = "", id = ""] = cursor?.split(".") ?? [];
  const after = cursor === undefined ? undefined : { finishedMs: Number(finishedMs), id };
  return { ...others, fromMs, toMs, after };
}

export const RECORD_QUERY = {
  at: AT,
  window: {
    schema: z.enum(RecordWindow.options).default("24h"),
    description: "Length of the window.",
    example: "7d",
  },
  group: GROUP,
} as const satisfies ParameterSet;

/** Reads a query of the track record. Throws `invalid-parameter`. */
export function readRecordQuery(query: unknown): Omit<RecordQuery, "toMs"> {
  const { at: _at, ...parameters } = RECORD_QUERY;
  return readQuery(parameters, query);
}
