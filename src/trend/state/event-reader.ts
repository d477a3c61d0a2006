import { MINUTE_MS } from "../../lib/time/time.ts";
import {
  type Candle,
  type LiquidityEvent,
  type ListingEvent,
  type MarketEvent,
  type MarketGroup,
  Profile,
  type Trade,
} from "../../market/index.ts";
import { isName, parseAmount, parsePrice, parseUsd, type RejectReason } from "./rejection.ts";

/*
 * Market events come from outside and may be anything at run time. These readers turn the money of one into numbers, or say what is wrong with it.
 * They are written by hand, for a schema would cost more than all the rest of a trade.
 */

const LAST_MS = 253_402_300_799_999;
const KINDS: ReadonlySet<unknown> = new Set(["trade", "candle", "listing", "liquidity", "profile", "clock"]);
const GROUPS: ReadonlySet<unknown> = new Set(["bsc", "exchange", "matic", "avalanche"]);

/** Numbers of one event. One object is reused for all: read it before the next. */
export interface EventNumbers {
  /** A trade's price, a candle's close. */
  price: number;
  /** A candle's open. */
  open: number;
  usd: number;
  buyShare: number | undefined;
}

/** Whether the value has a known kind and a possible time. */
export function isEvent(value: unknown): value is MarketEvent {
  if (typeof value !== "object" || value === null || !("kind" in value) || !("at" in value)) return false;
  return KINDS.has(value.kind) && isTime(value.at);
}

/** Whether the value is one of the groups. */
export function isGroup(value: unknown): value is MarketGroup {
  return GROUPS.has(value);
}

/** What is wrong with an event other than a clock, or `undefined` with its money in `numbers`. Time and token are not looked at, but a candle's. */
export function readEvent(
  event: Exclude<MarketEvent, { kind: "clock" }>,
  numbers: EventNumbers,
): RejectReason | undefined {
  switch (event.kind) {
    case "trade":
      return readTrade(event, numbers);
    case "candle":
      return readCandleEvent(event, numbers);
    case "listing":
      return readListing(event, numbers);
    case "liquidity":
      return readLiquidity(event, numbers);
    case "profile":
      return Profile.safeParse(event).success ? undefined : "malformed";
  }
}

/** What is wrong with a trade, or `undefined` with its price and dollars in `numbers`. */
function readTrade(event: Trade, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool) || !isName(event.trader)) return "malformed";
  if (event.side !== "buy" && event.side !== "sell") return "malformed";
  numbers.price = parsePrice(event.price);
  if (Number.isNaN(numbers.price)) return "price";
  numbers.usd = parseUsd(event.quoteUsd);
  return Number.isNaN(numbers.usd) || Number.isNaN(parseAmount(event.amount)) ? "amount" : undefined;
}

/** What is wrong with a candle, or `undefined` with its close, its volume in the quote, and the bought share in `numbers`. */
function readCandleEvent(event: Candle, numbers: EventNumbers): RejectReason | undefined {
  if (!isTime(event.openAt)) return "malformed";
  if (event.openAt % MINUTE_MS !== 0 || event.at < event.openAt + MINUTE_MS) return "candle";
  const open = parsePrice(event.open);
  const high = parsePrice(event.high);
  const low = parsePrice(event.low);
  const close = parsePrice(event.close);
  if (Number.isNaN(open + high + low + close)) return "price";
  if (low > Math.min(open, close) || high < Math.max(open, close)) return "candle";
  const volume = parseAmount(event.volume);
  const bought = event.buyVolume === undefined ? undefined : parseAmount(event.buyVolume);
  if (Number.isNaN(volume) || Number.isNaN(bought ?? 0)) return "amount";
  numbers.price = close;
  numbers.open = open;
  numbers.usd = volume * close;
  numbers.buyShare = bought === undefined || volume === 0 ? undefined : Math.min(1, bought / volume);
  return undefined;
}

/** What is wrong with a listing, or `undefined` with its dollars in `numbers`. */
function readListing(event: ListingEvent, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool)) return "malformed";
  numbers.usd = parseUsd(event.liquidity);
  return Number.isNaN(numbers.usd) ? "amount" : undefined;
}

/** What is wrong with a report of liquidity, or `undefined` with its dollars in `numbers`. */
function readLiquidity(event: LiquidityEvent, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool)) return "malformed";
  if (event.cause !== "sync" && event.cause !== "add" && event.cause !== "remove") return "malformed";
  numbers.usd = parseUsd(event.usd);
  return Number.isNaN(numbers.usd) ? "amount" : undefined;
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LAST_MS;
}
