import { z } from "zod";
import type { View } from "../../client/index.ts";

/** One flare in the table. Missing or invalid numbers are NaN. */
export interface FlareRow {
  /** Untrusted: not safe to print as is. */
  readonly symbol: string;
  /** Event time, in milliseconds since 1970. */
  readonly startedAtMs: number;
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

/** The current flares in the server's order. `list`: the fullest one available. */
export interface FlaresNow {
  readonly list: "pro" | "free";
  readonly rows: readonly FlareRow[];
  /** Number of flares that finished within 24 hours and are still listed. */
  readonly finished: number;
}

const Figure = z.number().catch(Number.NaN);
const Text = z.string().catch("");
/** Accepts any input: a table with gaps is better than none. */
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

/** Reads the flares from the server's lists; none without lists. Never throws. */
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
    // Feeds without liquidity send 0.
    liquidityUsd: Number(item.liquidity) || Number.NaN,
    score: why?.score ?? Number.NaN,
    threshold: why?.threshold ?? Number.NaN,
    warnings: why?.warnings ?? [],
  };
}
