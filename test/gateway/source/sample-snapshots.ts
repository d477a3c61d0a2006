import {
  EMPTY_SNAPSHOT,
  type Explanation,
  type Flare,
  type Listing,
  type Snapshot,
} from "../../../src/base/model/index.ts";

/** Returns a flare of the token with this symbol, from which id and address follow. */
export function flare(symbol: string, fields: Partial<Flare> = {}): Flare {
  return {
    id: flareId(symbol),
    recent_price_change: 12,
    previous_price_change: 3,
    latest_buy_count: 0,
    latest_sell_count: 0,
    forum_post: null,
    social_data: null,
    contract_source: { status: "0", message: "NOTOK" },
    liquidity: "0",
    market_data: null,
    token: token(symbol),
    started_trending_at: "2017-11-12T08:21:00.000Z",
    finished_trending_at: null,
    ...fields,
  };
}

export function flareId(symbol: string): string {
  return `00000000-0000-5000-8000-${Buffer.from(symbol.padEnd(6, "_")).toString("hex")}`;
}

function token(symbol: string) {
  const address = `0x${Buffer.from(symbol).toString("hex").padStart(40, "0")}`;
  return { name: symbol, symbol, address, price: "0.21", created_at: "2017-11-04T00:00:00.000Z" };
}

export function listing(symbol: string, fields: Partial<Listing> = {}): Listing {
  return {
    id: flareId(`n${symbol}`),
    listed_at: "2017-11-12T08:00:00.000Z",
    pool: "0xpool",
    liquidity: "1000",
    token: token(symbol),
    market_data: null,
    social_data: null,
    contract_source: { status: "1", message: "OK" },
    ...fields,
  };
}

export function explanation(fields: Partial<Explanation> = {}): Explanation {
  return {
    at: "2017-11-12T08:21:00.000Z",
    text: "8 times the usual volume",
    score: 3.1,
    threshold: 2.4,
    finish_threshold: 1.15,
    terms: [{ name: "volume", unit: "multiple-of-usual", raw: 8, usual: 1, z: 4, weight: 1 }],
    warnings: [],
    finish_cause: null,
    ...fields,
  };
}

/** Returns a snapshot of these flares, by list, and their explanations by symbol. */
export function snapshotOf(
  lists: { free?: Flare[]; pro?: Flare[]; finished?: Flare[]; newest?: Listing[] },
  whys: Readonly<Record<string, Explanation>> = {},
): Snapshot {
  const { free = [], pro = [], finished = [], newest = [] } = lists;
  const explanations = Object.fromEntries(
    Object.entries(whys).map(([symbol, why]) => [flareId(symbol), why]),
  );
  return {
    ...EMPTY_SNAPSHOT,
    flares: { free, pro, finished_trending: finished },
    newest: { bsc: newest },
    explanations,
  };
}
