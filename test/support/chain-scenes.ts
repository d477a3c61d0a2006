import { Traders } from "../../src/feed/simulated/market/actors/traders.ts";
import { Wallets } from "../../src/feed/simulated/market/actors/wallets.ts";
import type { Phase } from "../../src/feed/simulated/market/episodes/script.ts";
import { Random } from "../../src/feed/simulated/market/random.ts";
import { Pool } from "../../src/feed/simulated/market/venues/pool.ts";
import { Venue } from "../../src/feed/simulated/market/venues/venue.ts";
import type { MarketEvent } from "../../src/market/index.ts";
import { address, clock, MINUTE, profile, START, withClocks } from "../trend/trend-kit.ts";

/*
 * Small markets as real chains have them, for scenarios of the detector: `tokenScene` makes one
 * token's events, its `acts` are what its makers and bots do, `crowdScene` makes a market of busy
 * and idle tokens, `sceneOf` puts all in order with a clock each second. Everything is BSC, priced
 * in dollars, and starts at START of test/trend/trend-kit.ts. Equal arguments yield equal events.
 */

/** What makers or bots do at one moment of a scene. */
export interface SceneAct {
  readonly at: number;
  readonly run: (venue: Venue, out: MarketEvent[]) => void;
}

/** One token and what happens to it. */
interface TokenScene {
  readonly token: string;
  readonly minutes: number;
  /** Trades a minute, now. Default 3. */
  readonly perMinute?: (minute: number) => number;
  /**
   * The price that its traders aim at, in dollars. Default 1. They come from a crowd, so moves of
   * it draw distinct buyers.
   */
  readonly path?: (minute: number) => number;
  readonly liquidityUsd?: number;
  readonly acts?: readonly SceneAct[];
  readonly seed?: number;
}

/** Traders take a difference of this size, as logarithm, for a move and follow it. */
const FOLLOWED_GAP = 0.004;

/**
 * The events of one token, ordered by time: its profile, its pool `pool-<token>`, its trades, its
 * acts. No clock: see {@link sceneOf}.
 */
export function tokenScene(scene: TokenScene): MarketEvent[] {
  const { token, minutes, liquidityUsd = 50_000, seed = 1 } = scene;
  const { perMinute = () => 3, path = () => 1 } = scene;
  const random = new Random(`scene/${seed}/${token}`);
  const pool = new Pool(liquidityUsd / 2 / path(0), liquidityUsd / 2, 0.0025);
  const venue = new Venue({ group: "bsc", pool: `pool-${token}`, token }, pool);
  const traders = new Traders(venue, new Wallets(`scene/${seed}`, token), random, true);
  const out: MarketEvent[] = [profile(START, token)];
  venue.report(START, 1, "sync", out);
  const acts = (scene.acts ?? []).toSorted((one, other) => one.at - other.at);
  const untilMs = START + minutes * MINUTE;
  let next = 0;
  for (let at = START; at < untilMs; ) {
    const minute = (at - START) / MINUTE;
    const tradeAt = Math.ceil(at + random.waiting(MINUTE / Math.max(1e-9, perMinute(minute))));
    // Rates may change: look again at least each half minute, without a trade.
    const until = Math.min(tradeAt, at + MINUTE / 2, untilMs);
    for (let act = acts[next]; act && act.at <= until; act = acts[next]) {
      act.run(venue, out);
      next += 1;
    }
    at = until;
    if (at < tradeAt || at >= untilMs) continue;
    const gap = Math.log(path((at - START) / MINUTE) / pool.price);
    const moment = { at, quoteUsd: 1, gap };
    if (Math.abs(gap) > FOLLOWED_GAP) traders.follow(moment, following(gap), out);
    else traders.common(moment, out);
    venue.report(at, 1, "trade", out);
  }
  return out;
}

function following(gap: number): Phase {
  const buyShare = gap > 0 ? 0.85 : 0.2;
  return { style: "crowd", untilMs: 0, tradesPerMs: 0, buyShare, offset: 0, removes: 0 };
}

/**
 * Tokens `first`, `first` + 1, … of which each trades `perMinute` times a minute along the same
 * path.
 */
function tokenScenes(count: number, first: number, scene: Omit<TokenScene, "token">): readonly TokenScene[] {
  return Array.from({ length: count }, (_, n) => ({ ...scene, token: address(first + n) }));
}

/** Busy tokens, numbered from 1,000: some two trades a minute. */
export function busyTokens(count: number, scene: Omit<TokenScene, "token">): readonly TokenScene[] {
  return tokenScenes(count, 1_000, { perMinute: () => 2, ...scene });
}

/**
 * Idle tokens, numbered from 5,000: one trade in forty minutes, at a price that stands still,
 * whatever the market does.
 */
export function idleTokens(count: number, minutes: number, seed = 1): readonly TokenScene[] {
  return tokenScenes(count, 5_000, { minutes, seed, perMinute: () => 1 / 40 });
}

/**
 * A price that is `before`, rises by `size` from minute `from` on within `rise` minutes, and falls
 * back within `decay`; Infinity stays up.
 */
export function pumpPath(from: number, rise: number, size: number, decay = Number.POSITIVE_INFINITY) {
  return (minute: number) => {
    if (minute <= from) return 1;
    if (minute <= from + rise) return 1 + (size * (minute - from)) / rise;
    return 1 + size * Math.max(0, 1 - (minute - from - rise) / decay);
  };
}

/** A rate of trades that is `usual`, and `factor` times that from minute `from` to `until`. */
export function burstRate(usual: number, factor: number, from: number, until: number) {
  return (minute: number) => (minute >= from && minute < until ? usual * factor : usual);
}

/** Makers take `share` of the liquidity out and put it back `backAfterMs` later. */
export function rebalance(at: number, share = 0.6, backAfterMs = 1_000): readonly SceneAct[] {
  return [scaled(at, 1 - share), scaled(at + backAfterMs, 1 / (1 - share))];
}

/**
 * Liquidity grows to `factor` times as much around one purchase and is gone `backAfterMs` later: 0
 * is within the same block.
 */
export function justInTime(at: number, factor = 4, backAfterMs = 0): readonly SceneAct[] {
  const swap: SceneAct = {
    at,
    run: (venue, out) => void venue.buy(at, venue.pool.quote * 0.004, 1, `0x${"5".repeat(40)}`, out),
  };
  return [scaled(at, factor), swap, scaled(at + backAfterMs, 1 / factor)];
}

/**
 * Makers move `share` of the liquidity to the pool `pool`, where it arrives `gapMs` later; the
 * token trades there from then on.
 */
export function migration(at: number, pool: string, share = 0.98, gapMs = 0): readonly SceneAct[] {
  const arrive: SceneAct = {
    at: at + gapMs,
    run: (venue, out) => {
      venue.pool.scale(share / (1 - share));
      venue.moveTo(at + gapMs, pool, 1, out);
    },
  };
  return [scaled(at, 1 - share), arrive];
}

/** Makers take `share` of the liquidity out for good. */
export function rugPull(at: number, share = 0.95): readonly SceneAct[] {
  return [scaled(at, 1 - share)];
}

/**
 * Trades of `usd` dollars each, one every `everyMs`, by three wallets, at e^`distortion` times the
 * pool's price.
 */
export function dust(
  fromMs: number,
  untilMs: number,
  everyMs: number,
  distortion = 0,
  usd = 3e-6,
): readonly SceneAct[] {
  return Array.from({ length: Math.max(0, Math.ceil((untilMs - fromMs) / everyMs)) }, (_, n) => {
    const at = fromMs + n * everyMs;
    const trader = `0x${String(7 + (n % 3)).repeat(40)}`;
    const side = n % 2 === 0 ? "buy" : "sell";
    return { at, run: (venue, out) => void out.push(venue.dust(at, side, usd, 1, distortion, trader)) };
  });
}

/**
 * Another pool of a token that holds `usd` dollars and in which one trade at `price` took place at
 * `at`, and none since.
 */
export function idlePool(token: string, usd: number, at = START, price = 1): MarketEvent[] {
  const pool = new Pool(usd / 2 / price, usd / 2, 0.0025);
  const venue = new Venue({ group: "bsc", pool: `idle-${token}`, token }, pool);
  const out: MarketEvent[] = [];
  venue.report(at, 1, "sync", out);
  venue.buy(at + 1_000, usd * 1e-4, 1, `0x${"6".repeat(40)}`, out);
  return out;
}

/**
 * All events of several scenes in order of time, with a clock each second to the end of minute
 * `minutes`: as a recording has them.
 */
export function sceneOf(minutes: number, ...parts: readonly (readonly MarketEvent[])[]): MarketEvent[] {
  return [clock(START - 1_000), ...withClocks(parts.flat(), START + minutes * MINUTE)];
}

function scaled(at: number, factor: number): SceneAct {
  return {
    at,
    run: (venue, out) => {
      venue.remind(at, 1, out);
      venue.pool.scale(factor);
      venue.report(at, 1, factor > 1 ? "add" : "remove", out);
    },
  };
}
