import { isRecord } from "../../base/lib/untrusted-json.ts";
import { LATEST_AT_MS } from "../../base/market/index.ts";
import { plainDecimal } from "../plain-decimal.ts";
import { UnexpectedAnswer } from "../service/service-client.ts";
import { faultOf, Unread } from "../service/unread.ts";
import type { StreamNews, VenueTrade } from "./venue.ts";

/*
 * Trades are read by hand, because a schema would cost more than the rest of a trade's way. The
 * bounds are those of the engine.
 */

const MAX_PRICE = 1e18;
const MAX_AMOUNT = 1e27;
const MAX_VALUE = 1e18;
/** Digits that a product of two doubles has for certain. */
const SURE_DIGITS = 15;
const NUMBER = /^\d{1,20}(\.\d{1,20})?$/;
const DIGITS = /^\d{1,20}$/;

/** The fields of a trade, whatever their values are. */
export interface TradeFields {
  readonly id: unknown;
  /** A number or a string of digits; anything else counts as absent. */
  readonly serial?: unknown;
  /** Milliseconds since 1970, possibly with decimals. */
  readonly at: number;
  readonly side: unknown;
  readonly price: unknown;
  readonly amount: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};

/** Returns the value if it is an object, otherwise an empty one. */
export function recordOf(value: unknown): Fields {
  return isRecord(value) ? value : NO_FIELDS;
}

/** Returns the trade; `undefined` if a field is absent, malformed or out of bounds. */
function tradeOf({ id, serial, at, side, price, amount }: TradeFields): VenueTrade | undefined {
  const read = idOf(id);
  if (read === undefined || !(at >= 0) || at > LATEST_AT_MS) return undefined;
  if (side !== "buy" && side !== "sell") return undefined;
  if (typeof price !== "string" || typeof amount !== "string") return undefined;
  const plainPrice = plainDecimal(price);
  const plainAmount = plainDecimal(amount);
  if (plainPrice === undefined || plainAmount === undefined) return undefined;
  const [one, count] = [Number(plainPrice), Number(plainAmount)];
  if (!(one > 0 && one <= MAX_PRICE && count > 0 && count <= MAX_AMOUNT)) return undefined;
  const value = plainValue(one * count);
  if (value === undefined) return undefined;
  const number = numberOf(serial);
  return {
    id: read,
    serial: Number.isSafeInteger(number) ? number : undefined,
    at: Math.floor(at),
    side,
    price: plainPrice,
    amount: plainAmount,
    value,
  };
}

/** Returns the trade as news of the pair. Unusable fields are news, too. */
export function tradeNews(pair: unknown, fields: TradeFields, sentAt: unknown): readonly StreamNews[] {
  const trade = typeof pair === "string" ? tradeOf(fields) : undefined;
  if (!trade || typeof pair !== "string" || typeof sentAt !== "number" || !Number.isFinite(sentAt))
    return [
      {
        kind: "unusable",
        what: "trades",
        reason:
          typeof pair !== "string"
            ? faultOf("pair", pair)
            : trade
              ? faultOf("time", sentAt)
              : faultIn(fields),
      },
    ];
  return [{ kind: "trade", pair, trade, sentAt }];
}

/** Returns a number, or a string with one, as a number; NaN for anything else. */
export function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  return typeof value === "string" && NUMBER.test(value) ? Number(value) : Number.NaN;
}

/**
 * Returns the usable trades, and counts the others. Throws {@link UnexpectedAnswer} if `list` is no
 * array.
 */
export function readTrades(
  list: unknown,
  fieldsOf: (item: unknown) => TradeFields,
  unread = new Unread(),
): readonly VenueTrade[] {
  if (!Array.isArray(list)) throw new UnexpectedAnswer("returned no list of trades");
  return list.flatMap((item: unknown) => {
    const fields = fieldsOf(item);
    const trade = tradeOf(fields);
    if (trade) unread.good("trades");
    else unread.bad("trades", faultIn(fields));
    return trade ?? [];
  });
}

/** Says why the fields are no trade. */
function faultIn({ id, at, side, price, amount }: TradeFields): string {
  if (idOf(id) === undefined) return faultOf("id", id);
  if (Number.isNaN(at)) return "time is missing or invalid";
  if (side !== "buy" && side !== "sell") return faultOf("side", side);
  if (typeof price !== "string") return faultOf("price", price);
  if (typeof amount !== "string") return faultOf("amount", amount);
  return "a number is out of bounds";
}

function idOf(value: unknown): bigint | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined;
  return typeof value === "string" && DIGITS.test(value) ? BigInt(value) : undefined;
}

function plainValue(product: number): string | undefined {
  if (product > MAX_VALUE) return undefined;
  const text = String(Number(product.toPrecision(SURE_DIGITS)));
  return text.includes("e") ? plainDecimal(text) : text;
}
