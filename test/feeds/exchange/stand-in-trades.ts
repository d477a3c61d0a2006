import type { VenueName } from "../../../src/feeds/exchange/venue.ts";

/** A trade as an exchange of the stand-in has it. */
export interface MadeTrade {
  readonly venue: VenueName;
  readonly pair: string;
  readonly id: bigint;
  /** Counts the trades of the pair from 1. */
  readonly number: number;
  readonly at: number;
  readonly side: "buy" | "sell";
  readonly price: string;
  readonly amount: string;
}

/** As large as KuCoin's real ones, which a double cannot hold. */
const FIRST_SEQUENCE = 11_067_996_711_960_577n;
const FIRST_ID = 5_000_000n;
const LAST_TRADES = 100;

/** The trades of one exchange, with its kind of ids, its messages and its answers. */
export class TradeTape {
  readonly #venue: VenueName;
  readonly #pairs = new Map<string, MadeTrade[]>();
  /** The latest id of any pair. */
  #id = FIRST_ID;

  constructor(venue: VenueName) {
    this.#venue = venue;
  }

  /** Makes the pair's next trade. Deterministic, apart from the time. */
  make(pair: string, at: number): MadeTrade {
    const all = this.#pairs.get(pair) ?? [];
    this.#pairs.set(pair, all);
    const number = all.length + 1;
    const trade: MadeTrade = {
      ...{ venue: this.#venue, pair, id: this.#nextId(all.at(-1), number), number, at },
      side: number % 3 === 0 ? "sell" : "buy",
      price: (1 + number / 1_000).toFixed(8),
      amount: String(10 + (number % 7)),
    };
    all.push(trade);
    return trade;
  }

  /** Binance counts each pair, Gate all pairs together, and KuCoin with gaps. */
  #nextId(last: MadeTrade | undefined, number: number): bigint {
    if (this.#venue === "binance") return (last?.id ?? FIRST_ID) + 1n;
    if (this.#venue === "kucoin") return (last?.id ?? FIRST_SEQUENCE) + BigInt(1 + (number % 5));
    this.#id += BigInt(1 + (number % 4));
    return this.#id;
  }

  /** Returns the body of a request for past trades; `undefined` for any other. */
  body({ pathname, searchParams }: URL): unknown {
    const number = (name: string) => Number(searchParams.get(name));
    const of = (name: string) => this.#pairs.get(searchParams.get(name) ?? "") ?? [];
    switch (pathname) {
      case "/api/v3/aggTrades":
        return of("symbol")
          .filter(({ id }) => id >= BigInt(searchParams.get("fromId") ?? ""))
          .slice(0, number("limit"))
          .map(aggregate);
      case "/api/v4/spot/trades": {
        const [from, to, limit, page] = [number("from"), number("to"), number("limit"), number("page")];
        return of("currency_pair")
          .filter(({ at }) => Math.floor(at / 1_000) >= from && at / 1_000 <= to)
          .toReversed()
          .slice(limit * (page - 1), limit * page)
          .map((trade) => ({ ...gateTrade(trade), id: String(trade.id) }));
      }
      case "/api/v1/market/histories": {
        const last = of("symbol").slice(-LAST_TRADES).toReversed();
        const data = last.map(({ id, at, side, price, amount }) => ({
          ...{ sequence: String(id), price, size: amount, side, time: at * 1e6 },
        }));
        return { code: "200000", data };
      }
      default:
        return undefined;
    }
  }
}

/** Returns the message that brings the trade. */
export function messageOf(trade: MadeTrade): unknown {
  const { venue, pair, id, at, side, price, amount } = trade;
  if (venue === "binance")
    return {
      stream: `${pair.toLowerCase()}@aggTrade`,
      data: { e: "aggTrade", E: at + 1, s: pair, ...aggregate(trade) },
    };
  if (venue === "gate")
    return {
      ...{ time: Math.floor(at / 1_000), time_ms: at + 1, channel: "spot.trades", event: "update" },
      result: gateTrade(trade),
    };
  return {
    ...{ type: "message", subject: "trade.l3match", topic: `/market/match:${pair}` },
    data: {
      ...{ symbol: pair, sequence: String(id), side, size: amount, price, type: "match" },
      ...{ takerOrderId: "1", makerOrderId: "2", tradeId: String(id), time: `${at}000000` },
    },
  };
}

function aggregate({ id, number, at, side, price, amount }: MadeTrade) {
  const a = Number(id);
  return { a, p: price, q: amount, f: 2 * number, l: 2 * number + 1, T: at, m: side === "sell", M: true };
}

function gateTrade({ pair, id, number, at, side, price, amount }: MadeTrade) {
  return {
    ...{ id: Number(id), id_market: number, create_time: Math.floor(at / 1_000) },
    ...{ create_time_ms: `${at}.4578`, side, currency_pair: pair, amount, price, range: "1-1" },
  };
}
