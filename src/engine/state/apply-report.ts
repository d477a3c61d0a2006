import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { Window } from "../../base/market/index.ts";
import { measureWindow, type WindowState } from "../detect/measures/window-detector.ts";
import { findPool, notePool, noteTradeInPool, type Pool, steadyUsd } from "../detect/pools.ts";
import type { DetectorSettings } from "../settings.ts";
import { recordInRing } from "./bucket-ring.ts";
import type { EventNumbers } from "./event-reader.ts";
import { noteActivity, setPrice, type TokenState } from "./token-state.ts";

/** The shortest period that a report covers. */
const WINDOW_MS = 5 * MINUTE_MS;
/**
 * Up to this relative deviation from the dollars that its price implies, a pool's change counts as
 * trading.
 */
const MAX_DRIFT = 0.25;

/**
 * Applies an aggregator's report to a token without individual trades. The pool's liquidity always
 * counts. Prices and counts are used if the pool sets the token's price or the token has no price
 * yet. Returns false, and changes nothing, if the pool's known liquidity is newer.
 */
export function applyReport(
  token: TokenState,
  event: Window,
  { price, usd }: EventNumbers,
  settings: DetectorSettings,
): boolean {
  const { at, counts } = event;
  const existing = findPool(token, event.pool);
  if (existing && at < existing.usdAtMs) return false;
  token.lastSeenMs = Math.max(token.lastSeenMs, at);
  const change = existing ? explainChange(existing, price, usd) : ({ cause: "sync" } as const);
  const report = { atMs: at, usd, usdText: event.liquidity, ...change };
  const pool = notePool(token, event.pool, report, settings);
  pool.reportedPrice = price;
  const elapsedMs = Math.min(at - (token.window?.atMs ?? 0), WINDOW_MS);
  // Wash trading can produce any volume.
  const newUsd = Math.min((Number(counts.m5.usd) * elapsedMs) / WINDOW_MS, steadyUsd(pool, at));
  if (noteTradeInPool(token, pool, newUsd, price, at) !== "price" && token.price > 0) return true;
  const minute = Math.floor(at / MINUTE_MS);
  if (token.price === 0) recallPrices(token, event, minute);
  setPrice(token, pool, event, price);
  recordInRing(token.minutes, minute, price, 0, 0);
  const { window } = token;
  token.window = measureWindow(event, token.minutes, minute, settings);
  token.firstPool ||= event.pool;
  token.events += 1;
  noteTrades(token, window, token.window, minute);
  return true;
}

/** Records the past prices of a token's first report. Between them, the price counts as flat. */
function recallPrices(token: TokenState, { past }: Window, minute: number): void {
  recordInRing(token.minutes, minute - 60, Number(past.h1), 0, 0);
  recordInRing(token.minutes, minute - 30, Number(past.m30), 0, 0);
  recordInRing(token.minutes, minute - 5, Number(past.m5), 0, 0);
}

/**
 * Marks minutes with trades. A first report's trades are assumed to be spread over its five
 * minutes. Later, a count that rises proves new trades, because aging trades only lower it.
 */
function noteTrades(token: TokenState, before: WindowState | null, now: WindowState, minute: number): void {
  const { atMs, totals } = now;
  if (before) {
    const hasNew = totals.some((total, span) => total > (before.totals[span] ?? 0));
    if (hasNew) noteActivity(token, atMs, minute);
    return;
  }
  const minutes = Math.min(totals[0], WINDOW_MS / MINUTE_MS);
  for (let step = 0; step < minutes; step++) noteActivity(token, atMs - step * MINUTE_MS, minute - step);
}

/**
 * Returns the cause of a change in a pool's dollars and, if it is trading, the dollars after the
 * trades alone. In an x·y=k pool, trading changes the dollars with the square root of the price. A
 * change far beyond that is an addition or removal. A smaller deviation counts as trading, but
 * deviations add up over several reports, because all liquidity could be removed in small steps.
 */
function explainChange(pool: Pool, price: number, usd: number) {
  const ratio = price / pool.reportedPrice;
  const isKnown = ratio > 0 && Number.isFinite(ratio);
  const expectedUsd = isKnown ? pool.usd * Math.sqrt(ratio) : pool.usd;
  if (usd < expectedUsd * (1 - MAX_DRIFT)) return { cause: "remove" } as const;
  if (usd > expectedUsd * (1 + MAX_DRIFT)) return { cause: "add" } as const;
  return { cause: "sync", tradedUsd: isKnown ? expectedUsd : usd } as const;
}
