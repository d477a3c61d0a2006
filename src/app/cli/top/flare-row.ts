import { z } from "zod";
import { flaresKeyOf, type Group, nameItem, Outcome } from "../../../base/model/index.ts";
import type { View } from "../../../clients/sdk/index.ts";

/** One flare in the table. Unknown numbers are NaN. Its texts are untrusted: not safe to print. */
export interface FlareRow {
  readonly id: string;
  /** The token's symbol; on the exchange the pair, such as `BTC/USDT`. */
  readonly symbol: string;
  readonly name: string;
  readonly address: string;
  /** Empty for tokens of chains. */
  readonly exchange: string;
  readonly price: string;
  /** When that price was last seen, in event time; NaN if unknown. */
  readonly pricedAtMs: number;
  /** Why it started, or why it still runs. */
  readonly why: string;
  /** Event time, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** NaN while it flares. */
  readonly endedAtMs: number;
  /** What the price did; `undefined` while it flares, or if the server measures none. */
  readonly outcome: Outcome | undefined;
  readonly change: number;
  readonly buys: number;
  readonly sells: number;
  /** US dollars; NaN if unknown. */
  readonly liquidityUsd: number;
  readonly score: number;
  /** The limit that the score exceeded. */
  readonly threshold: number;
  readonly warnings: readonly string[];
}

/** A group's current flares in the server's order. `list`: the fullest one available. */
export interface FlaresNow {
  readonly group: Group;
  readonly list: "pro" | "free";
  readonly rows: readonly FlareRow[];
  /** Flares that finished within 24 hours and are still listed. */
  readonly finished: readonly FlareRow[];
}

const Figure = z.number().catch(Number.NaN);
const Text = z.string().catch("");
const Token = z.looseObject({ symbol: Text, name: Text, address: Text, price: Text, price_at: Text });
/** Accepts any input: a table with gaps is better than none. */
const Item = z.looseObject({
  id: Text,
  started_trending_at: Text,
  finished_trending_at: Text,
  recent_price_change: Figure,
  latest_buy_count: Figure,
  latest_sell_count: Figure,
  liquidity: Text,
  pair: z.string().optional().catch(undefined),
  exchange: Text,
  token: Token.catch({ symbol: "", name: "", address: "", price: "", price_at: "" }),
});
const Why = z.looseObject({
  text: Text,
  score: Figure,
  threshold: Figure,
  warnings: z.array(z.string()).catch([]),
});

/** Reads the flares from the server's lists; none without lists. Never throws. */
export function readFlares(view: View | undefined, group: Group): FlaresNow {
  const { pro, free, finished_trending: finished } = view?.[flaresKeyOf(group)] ?? {};
  const rowsOf = (items: readonly unknown[] = []) =>
    items.flatMap((item) => {
      const { data } = Item.safeParse(item);
      if (!data) return [];
      const row = rowOf(data, view?.explanations?.[data.id], view?.outcomes?.[data.id]);
      // Exchanges report candles without trades. The API sends 0 then.
      const isCounted = group !== "exchange" || row.buys + row.sells > 0;
      return [isCounted ? row : { ...row, buys: Number.NaN, sells: Number.NaN }];
    });
  return { group, list: pro ? "pro" : "free", rows: rowsOf(pro ?? free), finished: rowsOf(finished) };
}

function rowOf(item: z.infer<typeof Item>, explanation: unknown, outcome: unknown): FlareRow {
  const why = Why.safeParse(explanation).data;
  return {
    id: item.id,
    symbol: nameItem(item) ?? "",
    name: item.token.name,
    address: item.token.address,
    exchange: item.exchange,
    price: item.token.price,
    pricedAtMs: Date.parse(item.token.price_at),
    why: why?.text ?? "",
    startedAtMs: Date.parse(item.started_trending_at),
    endedAtMs: Date.parse(item.finished_trending_at),
    outcome: Outcome.safeParse(outcome).data,
    change: item.recent_price_change,
    buys: item.latest_buy_count,
    sells: item.latest_sell_count,
    // Feeds without liquidity send 0.
    liquidityUsd: Number(item.liquidity) || Number.NaN,
    score: why?.score ?? Number.NaN,
    threshold: why?.threshold ?? Number.NaN,
    warnings: why?.warnings ?? [],
  };
}
