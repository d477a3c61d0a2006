import { z } from "zod";
import { Address, Count, DecimalString, Timestamp } from "./primitives.ts";

/** Number of minutes that {@link Candles} covers. */
export const CANDLE_MINUTES = 60;

const price = (description: string) => DecimalString.nullable().meta({ description });

export const Candle = z
  .object({
    open_at: Timestamp.describe("Start of the minute."),
    open: price(
      "First price of the minute; `null` if it had no trade in the pool that sets the token's price.",
    ),
    high: price("Highest price."),
    low: price("Lowest price."),
    close: price("Last price."),
    volume: DecimalString.describe("Volume of the minute, in US dollars or the feed's quote currency."),
    buys: Count.nullable().describe("Number of buys; `null` if the feed has no individual trades."),
    sells: Count.nullable().describe("Number of sells; `null` if the feed has no individual trades."),
  })
  .describe(
    "One minute in which a token traded. A minute without a trade has no candle. Prices have ten significant digits.",
  );
export type Candle = z.infer<typeof Candle>;

export const TokenCandles = z
  .record(Address, z.array(Candle).max(CANDLE_MINUTES))
  .describe("Candles by token, oldest first. Addresses are spelled as in the tokens' flares.");
export type TokenCandles = z.infer<typeof TokenCandles>;

export const Candles = z
  .object({
    closed_at: Timestamp.nullable().describe("End of the last closed minute; `null` if there is no token."),
    bsc: TokenCandles,
  })
  .describe(
    "`GET /api/v1/candles`: the last 60 closed minutes of each token with a running flare, by group. A mirror also gets those of flares that started within two hours. Tokens of other groups have none.",
  );
export type Candles = z.infer<typeof Candles>;

export const NO_CANDLES: Candles = { closed_at: null, bsc: {} };
