import { z } from "zod";
import type { View } from "../../client/index.ts";

/** What a table tells of one flare. A number that the server does not give, or not as one, is NaN. */
export interface FlareRow {
  /** From a stranger: not yet safe to print. */
  readonly symbol: string;
  /** Event time, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Percent over the last 5 minutes. */
  readonly change: number;
  readonly buys: number;
  readonly sells: number;
  /** US dollars; NaN where the feed does not know. */
  readonly liquidityUsd: number;
  readonly score: number;
  /** What the score had to pass. */
  readonly threshold: number;
  /** Those of the canary that hold. */
  readonly warnings: readonly string[];
}

/** What flares now, in the server's order. `list` is the fullest one that it shows. */
export interface FlaresNow {
  readonly list: "pro" | "free";
  readonly rows: readonly FlareRow[];
  /** How many finished within 24 hours, as far as the server lists them. */
  readonly finished: number;
}

const Figure = z.number().catch(Number.NaN);
const Text = z.string().catch("");
/** Anything is borne: what the server sends has come over a network, and a table with a gap is better than none. */
const Item = z.looseObject({
  id: Text,
  started_trending_at: Text,
  recent_price_change: Figure,
  latest_buy_count: Figure,
  latest_sell_count: Figure,
  liquidity: Text,
  token: z.looseObject({ symbol: Text }).catch({ symbol: "" }),
});
const Why = z.looseObject({
  score: Figure,
  threshold: Figure,
  warnings: z.array(z.string()).catch([]),
});

/** Reads the flares out of the lists that a server sent; without lists there are none. Never throws. */
export function readFlares(view: View | undefined): FlaresNow {
  const { pro, free, finished_trending: finished } = view?.flares ?? {};
  const items: readonly unknown[] = pro ?? free ?? [];
  const rows = items.flatMap((item) => {
    const { data } = Item.safeParse(item);
    return data ? [rowOf(data, view?.explanations?.[data.id])] : [];
  });
  return { list: pro ? "pro" : "free", rows, finished: finished?.length ?? 0 };
}

function rowOf(item: z.infer<typeof Item>, explanation: unknown): FlareRow {
  const why = Why.safeParse(explanation).data;
  return {
    symbol: item.token.symbol,
    startedAtMs: Date.parse(item.started_trending_at),
    change: item.recent_price_change,
    buys: item.latest_buy_count,
    sells: item.latest_sell_count,
    // The feeds that know none say 0.
    liquidityUsd: Number(item.liquidity) || Number.NaN,
    score: why?.score ?? Number.NaN,
    threshold: why?.threshold ?? Number.NaN,
    warnings: why?.warnings ?? [],
  };
}
