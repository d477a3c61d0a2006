import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";

/*
 * Measures the detector on the trades of one real pool whose wallets are known (Solana, recorded by
 * GeckoTerminal), played as a token of BSC.
 */

/** A rise is at least this high, from its low to its high. */
const MIN_RISE = 0.2;
/** A rise takes at most this long, and the next begins at least this long after its high. */
const RISE_MS = 15 * MINUTE_MS;
/** A flare that starts at most this long after a rise's high still found it. */
const GRACE_MS = MINUTE_MS;
/** Its price moves as in an x·y=k pool of about this depth. The liquidity itself is unknown. */
const LIQUIDITY_USD = "200000";
const TOKEN = hexOf("token");
const POOL = hexOf("pool");

export interface Rise {
  readonly from: number;
  readonly to: number;
  readonly share: number;
}

/** The figures of a run. Shares are of the minutes with a reading. */
export interface WalletPoolFigures {
  readonly rises: number;
  readonly found: number;
  readonly falseFlares: number;
  readonly positiveImbalance: number;
  readonly canary: number;
  readonly warnings: Readonly<Record<string, number>>;
}

/** Reads the recording's trades as those of BSC: names are hashed to addresses. */
export function readWalletPool(file: string): readonly Trade[] {
  const rows = gunzipSync(readFileSync(file)).toString().trim().split("\n");
  return rows.map(tradeOf).toSorted((one, other) => one.at - other.at);
}

/** Reads a row. Its `price_usd` is that of the token which was given away, so it is not used. */
function tradeOf(row: string): Trade {
  const { side, from_token_amount, to_token_amount, volume_usd, block_timestamp, tx_from_address } =
    JSON.parse(row);
  const amount = Number(side === "sell" ? from_token_amount : to_token_amount);
  return {
    ...{ kind: "trade", group: "bsc", pool: POOL, token: TOKEN, side },
    at: Date.parse(block_timestamp),
    price: (Number(volume_usd) / amount).toFixed(15),
    amount: amount.toFixed(9),
    quoteUsd: volume_usd,
    trader: hexOf(tx_from_address),
  };
}

function hexOf(name: string): string {
  return `0x${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;
}

/** Returns the rises by the rule above, each from its low to its high. */
export function risesOf(trades: readonly { readonly at: number; readonly price: string }[]): readonly Rise[] {
  const rises: Rise[] = [];
  let since = Number.NEGATIVE_INFINITY;
  for (const { at, price } of trades) {
    const before = trades.filter((trade) => trade.at >= Math.max(since, at - RISE_MS) && trade.at <= at);
    const low = before.reduce((a, b) => (Number(b.price) < Number(a.price) ? b : a), { at, price });
    if (Number(price) < (1 + MIN_RISE) * Number(low.price)) continue;
    const after = trades.filter((trade) => trade.at >= low.at && trade.at <= low.at + RISE_MS);
    const high = after.reduce((a, b) => (Number(b.price) > Number(a.price) ? b : a), { at, price });
    rises.push({ from: low.at, to: high.at, share: Number(high.price) / Number(low.price) - 1 });
    since = high.at + RISE_MS;
  }
  return rises;
}

export function scoreWalletPool(trades: readonly Trade[]): WalletPoolFigures {
  const rises = risesOf(trades);
  const engine = new TrendEngine();
  const listedMs = (trades[0]?.at ?? 0) - DAY_MS;
  engine.accept({
    kind: "listing",
    at: listedMs,
    group: "bsc",
    pool: POOL,
    token: TOKEN,
    liquidity: LIQUIDITY_USD,
  });
  const starts = new Set<number>();
  const warnings: Record<string, number> = {};
  let [readings, positive, canary] = [0, 0, 0];
  let clockMs = Math.floor((trades[0]?.at ?? 0) / SECOND_MS) * SECOND_MS;
  for (const trade of trades) {
    for (; clockMs <= trade.at; clockMs += SECOND_MS) {
      engine.accept({ kind: "clock", at: clockMs });
      if (clockMs % (10 * SECOND_MS) !== 0) continue;
      for (const flare of engine.snapshot().flares.pro) starts.add(Date.parse(flare.started_trending_at));
      const reading = engine.readingOf("bsc", TOKEN);
      if (!reading || clockMs % MINUTE_MS !== 0) continue;
      readings += 1;
      if ((reading.terms.find(({ name }) => name === "imbalance")?.z ?? 0) > 0) positive += 1;
      for (const warning of reading.warnings) warnings[warning] = (warnings[warning] ?? 0) + 1;
    }
    engine.accept(trade);
  }
  const isIn = (at: number) => (rise: Rise) => at >= rise.from && at <= rise.to + GRACE_MS;
  return {
    rises: rises.length,
    found: rises.filter((rise) => [...starts].some((at) => isIn(at)(rise))).length,
    falseFlares: [...starts].filter((at) => !rises.some(isIn(at))).length,
    positiveImbalance: positive / readings,
    canary: canary / readings,
    warnings,
  };
}
