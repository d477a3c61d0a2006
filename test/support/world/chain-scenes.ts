import type { MarketEvent } from "../../../src/base/market/index.ts";
import { Traders } from "../../../src/feeds/simulated/market/actors/traders.ts";
import { Wallets } from "../../../src/feeds/simulated/market/actors/wallets.ts";
import type { Phase } from "../../../src/feeds/simulated/market/episodes/script.ts";
import { Random } from "../../../src/feeds/simulated/market/random.ts";
import { Pool } from "../../../src/feeds/simulated/market/venues/pool.ts";
import { Venue } from "../../../src/feeds/simulated/market/venues/venue.ts";
import { address, clock, MINUTE, profile, START, withClocks } from "../../engine/trend-kit.ts";

/*
 * Small markets like those of real chains, for scenarios of the detector. `tokenScene` creates one
 * token's events; its `acts` are the actions of its market makers and bots. `busyTokens` and
 * `idleTokens` describe the market around it. `sceneOf` orders all events and adds a clock event
 * each second. Everything is on BSC, priced in dollars, and starts at START of
 * test/engine/trend-kit.ts. Equal arguments give equal events.
 */

/** An action of market makers or bots at one moment of a scene. */
export interface SceneAct {
  readonly at: number;
  readonly run: (venue: Venue, out: MarketEvent[]) => void;
}

/** One token and its activity. */
interface TokenScene {
  readonly token: string;
  readonly minutes: number;
  /** Trades per minute at a minute of the scene. Default: 3. */
  readonly perMinute?: (minute: number) => number;
  /**
   * Price in dollars that the traders aim at. Default: 1. The traders are a crowd, so price moves
   * have distinct buyers.
   */
  readonly path?: (minute: number) => number;
  readonly liquidityUsd?: number;
  readonly acts?: readonly SceneAct[];
  readonly seed?: number;
}

/** Log difference between price and path above which traders follow the path. */
const FOLLOWED_GAP = 0.004;

/**
 * Returns one token's events in order of time: profile, pool `pool-<token>`, trades and acts. They
 * include no clock events: see {@link sceneOf}.
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
    // The rate may change, so advance at most half a minute without a trade.
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

/** Returns `count` tokens, numbered from `first`. All follow the same scene. */
function tokenScenes(count: number, first: number, scene: Omit<TokenScene, "token">): readonly TokenScene[] {
  return Array.from({ length: count }, (_, n) => ({ ...scene, token: address(first + n) }));
}

/** Returns busy tokens, numbered from 1,000, with about two trades a minute. */
export function busyTokens(count: number, scene: Omit<TokenScene, "token">): readonly TokenScene[] {
  return tokenScenes(count, 1_000, { perMinute: () => 2, ...scene });
}

/**
 * Returns idle tokens, numbered from 5,000. Each trades once in forty minutes, at a constant price.
 */
export function idleTokens(count: number, minutes: number, seed = 1): readonly TokenScene[] {
  return tokenScenes(count, 5_000, { minutes, seed, perMinute: () => 1 / 40 });
}

/**
 * Returns a price path that is 1 until minute `from`, rises by `size` within `rise` minutes, and
 * falls back within `decay` minutes. With an infinite `decay` it stays up.
 */
export function pumpPath(from: number, rise: number, size: number, decay = Number.POSITIVE_INFINITY) {
  return (minute: number) => {
    if (minute <= from) return 1;
    if (minute <= from + rise) return 1 + (size * (minute - from)) / rise;
    return 1 + size * Math.max(0, 1 - (minute - from - rise) / decay);
  };
}

/** Returns a trade rate that is `usual`, and `factor` times that from minute `from` to `until`. */
export function burstRate(usual: number, factor: number, from: number, until: number) {
  return (minute: number) => (minute >= from && minute < until ? usual * factor : usual);
}

/** Market makers remove `share` of the liquidity and return it `backAfterMs` later. */
export function rebalance(at: number, share = 0.6, backAfterMs = 1_000): readonly SceneAct[] {
  return [scaled(at, 1 - share), scaled(at + backAfterMs, 1 / (1 - share))];
}

/**
 * Liquidity grows by `factor` around one purchase and leaves `backAfterMs` later. 0: within the
 * same block.
 */
export function justInTime(at: number, factor = 4, backAfterMs = 0): readonly SceneAct[] {
  const swap: SceneAct = {
    at,
    run: (venue, out) => void venue.buy(at, venue.pool.quote * 0.004, 1, `0x${"5".repeat(40)}`, out),
  };
  return [scaled(at, factor), swap, scaled(at + backAfterMs, 1 / factor)];
}

/**
 * Market makers move `share` of the liquidity to the pool `pool`, where it arrives `gapMs` later.
 * From then on the token trades there.
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

/** Market makers remove `share` of the liquidity for good. */
export function rugPull(at: number, share = 0.95): readonly SceneAct[] {
  return [scaled(at, 1 - share)];
}

/**
 * Returns one trade of `usd` dollars every `everyMs`, by three wallets in turn, at e^`distortion`
 * times the pool's price.
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
 * Returns another pool of a token, which holds `usd` dollars and has one trade, a second after
 * `at`.
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
 * Returns all events of several scenes in order of time, with a clock event each second to the end
 * of minute `minutes`, as in a recording.
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
