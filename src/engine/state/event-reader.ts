import { parseAmount, parsePrice, parseUsd } from "../../base/lib/parse-decimal.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import {
  type Candle,
  LATEST_AT_MS,
  type LiquidityEvent,
  type ListingEvent,
  LocksEvent,
  MarketEvent,
  type MarketGroup,
  type Observed,
  Profile,
  type TokenEvent,
  type Trade,
  Window,
} from "../../base/market/index.ts";
import { GROUPS } from "../../base/model/index.ts";
import { isName, type RejectReason } from "./rejection.ts";

/*
 * Validates market events, which can be anything at run time, and parses their amounts. The
 * frequent kinds are checked by hand, because a schema would cost more than the rest of a trade's
 * processing. Nothing is accepted that the schema rejects, because the replay of a recording would
 * skip that event.
 */

const KINDS: ReadonlySet<unknown> = new Set(MarketEvent.options.map(({ shape }) => shape.kind.value));
const GROUP_NAMES: ReadonlySet<unknown> = new Set(GROUPS);

/**
 * Numbers of one event. One object is reused: read it before the next event. A number that the
 * event's kind lacks is left over from an earlier event.
 */
export interface EventNumbers {
  /** The price of a trade or report, or a candle's close. */
  price: number;
  open: number;
  /** A trade's dollars, a candle's quote volume, or a pool's liquidity. */
  usd: number;
}

/** Returns whether the value has a known kind and a possible time. */
export function isEvent(value: unknown): value is MarketEvent {
  if (typeof value !== "object" || value === null || !("kind" in value) || !("at" in value)) return false;
  return KINDS.has(value.kind) && isTime(value.at);
}

export function isGroup(value: unknown): value is MarketGroup {
  return GROUP_NAMES.has(value);
}

/**
 * Stores an event's amounts in `numbers`, or returns why it is invalid. The caller checks `at`,
 * group and token.
 */
export function readEvent(event: TokenEvent, numbers: EventNumbers): RejectReason | undefined {
  switch (event.kind) {
    case "trade":
      return readTrade(event, numbers);
    case "candle":
      return readCandleEvent(event, numbers);
    case "window":
      return readWindowEvent(event, numbers);
    case "listing":
      return readListing(event, numbers);
    case "liquidity":
      return readLiquidity(event, numbers);
    case "locks":
      return LocksEvent.safeParse(event).success ? undefined : "malformed";
    case "profile":
      return Profile.safeParse(event).success ? undefined : "malformed";
  }
}

/** Stores a trade's price and dollars in `numbers`, or returns why it is invalid. */
function readTrade(event: Trade, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool) || !hasPerson(event)) return "malformed";
  if (event.side !== "buy" && event.side !== "sell") return "malformed";
  if (event.tradedAt !== undefined && !isTime(event.tradedAt)) return "malformed";
  numbers.price = parsePrice(event.price);
  if (Number.isNaN(numbers.price)) return "price";
  numbers.usd = parseUsd(event.quoteUsd);
  return Number.isNaN(numbers.usd) || Number.isNaN(parseAmount(event.amount)) ? "amount" : undefined;
}

/** Only the exchange's trades may come without their trader. */
function hasPerson({ group, trader }: Trade): boolean {
  return trader === undefined ? group === "exchange" : isName(trader);
}

/**
 * Stores a candle's open, close and quote volume (volume times close) in `numbers`, or returns why
 * it is invalid.
 */
function readCandleEvent(event: Candle, numbers: EventNumbers): RejectReason | undefined {
  if (!isTime(event.openAt)) return "malformed";
  if (event.trades !== undefined && !isCount(event.trades)) return "malformed";
  if (event.openAt % MINUTE_MS !== 0 || event.at < event.openAt + MINUTE_MS) return "candle";
  const open = parsePrice(event.open);
  const high = parsePrice(event.high);
  const low = parsePrice(event.low);
  const close = parsePrice(event.close);
  if (Number.isNaN(open + high + low + close)) return "price";
  if (low > Math.min(open, close) || high < Math.max(open, close)) return "candle";
  const { buyVolume = "0" } = event;
  const volume = parseAmount(event.volume);
  if (Number.isNaN(volume + parseAmount(buyVolume))) return "amount";
  numbers.price = close;
  numbers.open = open;
  numbers.usd = volume * close;
  return undefined;
}

/** Stores a report's price and liquidity in `numbers`, or returns why it is invalid. */
function readWindowEvent(event: Window, numbers: EventNumbers): RejectReason | undefined {
  if (!Window.safeParse(event).success || !isName(event.pool)) return "malformed";
  const { past, counts } = event;
  numbers.price = parsePrice(event.price);
  const pastPrices = parsePrice(past.m5) + parsePrice(past.m30) + parsePrice(past.h1);
  if (Number.isNaN(numbers.price + pastPrices)) return "price";
  numbers.usd = parseUsd(event.liquidity);
  const volumes = parseUsd(counts.m5.usd) + parseUsd(counts.h1.usd) + parseUsd(counts.h24.usd);
  return Number.isNaN(numbers.usd + volumes) ? "amount" : undefined;
}

/** Stores a listing's dollars in `numbers`, or returns why it is invalid. */
function readListing(event: ListingEvent, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool)) return "malformed";
  if (event.listedAt !== undefined && !isTime(event.listedAt)) return "malformed";
  numbers.usd = parseUsd(event.liquidity);
  return Number.isNaN(numbers.usd) ? "amount" : undefined;
}

/** Stores a liquidity event's dollars in `numbers`, or returns why it is invalid. */
function readLiquidity(event: LiquidityEvent, numbers: EventNumbers): RejectReason | undefined {
  if (!isName(event.pool)) return "malformed";
  if (event.cause !== "sync" && event.cause !== "add" && event.cause !== "remove") return "malformed";
  numbers.usd = parseUsd(event.usd);
  return Number.isNaN(numbers.usd) ? "amount" : undefined;
}

/** Returns when an event begins: the start of a live candle's minute, else the event's time. */
export function beginningOf(event: TokenEvent | Observed): number {
  return event.kind === "candle" && event.at === event.openAt + MINUTE_MS ? event.openAt : event.at;
}

export function isTime(value: unknown): value is number {
  return isCount(value) && value <= LATEST_AT_MS;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
