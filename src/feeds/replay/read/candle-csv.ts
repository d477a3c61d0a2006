import { MINUTE_MS } from "../../../base/lib/time/time.ts";
import { type Candle, LATEST_AT_MS, type MarketEvent } from "../../../base/market/index.ts";
import { plainDecimal } from "../../plain-decimal.ts";
import { type PairRegistry, REINTRODUCE_AFTER_MS } from "../pair-registry.ts";
import type { Timeline } from "../timeline.ts";
import type { LineParser } from "./line-parser.ts";
import type { TokenProfiles } from "./profiles-file.ts";
import { excerpt, type Skipped } from "./skips.ts";

/** The columns of a candle file, in this order. */
const CSV_COLUMNS = ["time_ms", "pair", "open", "high", "low", "close", "volume"] as const;

const HEADER = CSV_COLUMNS.join(",");
const AMOUNT_COLUMNS = CSV_COLUMNS.slice(2);
const MAX_PAIR_CHARS = 128;
/** Names are shown to people, so they must not contain control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Classifies the first line of a candle file. */
export function csvFirstLine(line: string): "header" | "data" | { readonly problem: string } {
  const text = line.replaceAll(/["\s]/g, "").toLowerCase();
  if (text === HEADER) return "header";
  if (/^[-+.]?\d/.test(text)) return "data";
  return { problem: `the header is ${excerpt(line)}, expected ${HEADER}` };
}

/** Parses one-minute candles as CSV. A candle's time is the end of its minute. */
export class CandleCsvParser implements LineParser {
  readonly firstLine = csvFirstLine;
  readonly #pairs: PairRegistry;
  readonly #timeline: Timeline;
  readonly #profiles: TokenProfiles;

  constructor(pairs: PairRegistry, timeline: Timeline, profiles: TokenProfiles) {
    this.#pairs = pairs;
    this.#timeline = timeline;
    this.#profiles = profiles;
  }

  parse(line: string, shiftMs: number, out: MarketEvent[]): Skipped | undefined {
    const fields = line.split(",");
    if (fields.length !== CSV_COLUMNS.length) {
      return {
        reason: "bad-columns",
        detail: `${fields.length} columns, expected ${CSV_COLUMNS.length} (${HEADER})`,
      };
    }
    const [time = "", name = ""] = fields;
    const recordedAt = /^\d{1,15}$/.test(time) ? Number(time) : -1;
    if (recordedAt < 0 || recordedAt % MINUTE_MS !== 0 || recordedAt + MINUTE_MS + shiftMs > LATEST_AT_MS) {
      return {
        reason: "bad-time",
        detail: `time_ms ${excerpt(time)} is not a whole minute in milliseconds since 1970, up to the year 9999`,
      };
    }
    if (name === "" || name.length > MAX_PAIR_CHARS || CONTROL.test(name)) {
      return {
        reason: "bad-pair",
        detail: `pair ${excerpt(name)} must have 1 to ${MAX_PAIR_CHARS} characters without control characters`,
      };
    }
    const amounts = readAmounts(fields);
    if ("reason" in amounts) return amounts;

    const openAt = recordedAt + shiftMs;
    const at = openAt + MINUTE_MS;
    const untimely = this.#timeline.judge(at);
    if (untimely) return untimely;
    const pair = this.#pairs.get(name);
    if (!pair)
      return {
        reason: "too-many-pairs",
        detail: `pair ${excerpt(name)} exceeds the maximum number of pairs`,
      };
    if (openAt <= pair.lastOpenAt)
      return { reason: "duplicate", detail: `${name} already has a candle for ${time}` };

    const introduce = pair.lastOpenAt < 0 || openAt - pair.lastOpenAt > REINTRODUCE_AFTER_MS;
    pair.lastOpenAt = openAt;
    const { open, high, low, close, volume } = amounts;
    for (const { group, token, profile } of pair.tokens) {
      if (introduce) out.push({ ...profile, at });
      out.push({ kind: "candle", at, group, token, openAt, open, high, low, close, volume });
    }
    return undefined;
  }

  unusedProfiles(): readonly string[] {
    return [...this.#profiles.keys()].filter((name) => !this.#pairs.has(name));
  }

  advance(ms: number): void {
    this.#pairs.advance(ms);
  }
}

type Amounts = Pick<Candle, "open" | "high" | "low" | "close" | "volume">;

function readAmounts(fields: readonly string[]): Amounts | Skipped {
  const plain: string[] = [];
  for (const [index, column] of AMOUNT_COLUMNS.entries()) {
    const text = fields[index + 2] ?? "";
    const amount = plainDecimal(text);
    if (amount === undefined) {
      return text.startsWith("-") && plainDecimal(text.slice(1)) !== undefined
        ? { reason: "negative", detail: `${column} ${excerpt(text)} is negative` }
        : {
            reason: "bad-number",
            detail: `${column} ${excerpt(text)} is not a decimal number of at most 100 characters`,
          };
    }
    plain.push(amount);
  }
  const [open = "", high = "", low = "", close = "", volume = ""] = plain;
  const prices = [Number(open), Number(high), Number(low), Number(close)] as const;
  if (prices[2] <= 0 || prices[2] !== Math.min(...prices) || prices[1] !== Math.max(...prices)) {
    return { reason: "impossible", detail: `open ${open}, high ${high}, low ${low}, close ${close}` };
  }
  return { open, high, low, close, volume };
}
