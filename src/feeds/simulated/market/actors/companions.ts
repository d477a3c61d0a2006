import type { Chain, ChainToken } from "../chain-token.ts";
import { planOldLocks } from "../lp-locks.ts";
import type { Random } from "../random.ts";
import { SidePool, type SidePoolTraits } from "../venues/side-pool.ts";
import type { Actor } from "./actor.ts";
import { DustBot } from "./dust-bot.ts";
import { type MakerHabits, Makers } from "./makers.ts";
import { TwoSidedBots } from "./two-sided-bots.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** Only deeper pools have makers who rebalance, and just-in-time makers. */
const WORTH_MAKING_USD = 30_000;
const DUST_SHARE = 0.2;
const SIDE_POOL_SHARE = 0.3;
/** Two-sided bots trade in this share of the deep pools, but only where people trade as often. */
const BOTS = { share: 0.4, perMinute: 0.1 };
/** Mean time until a pool's first migration. */
const FIRST_MIGRATION_HOURS = 60;

/**
 * Returns the actors around an established token: makers, and perhaps a dust bot, two-sided bots
 * and another pool.
 */
export function establishedCompanions(
  token: ChainToken,
  chain: Chain,
  nextRank: () => number,
  nowMs: number,
  random: Random,
) {
  const { onLabel, wallets } = chain;
  const isDeep = token.venue.liquidityUsd(token.quoteUsd) >= WORTH_MAKING_USD;
  const rebalance = isDeep && random.chance(0.35) ? random.logBetween(2, 12) : NEVER;
  const locks = planOldLocks(nowMs, rebalance === NEVER, random);
  const isLocked = locks.some(({ burned, held }) => burned > 0 || held.length > 0);
  const habits: MakerHabits = {
    rebalance,
    jit: isDeep && random.chance(0.4) ? random.logBetween(2, 12) : NEVER,
    migration: isLocked ? NEVER : FIRST_MIGRATION_HOURS,
  };
  token.expect(locks);
  const makers = new Makers(token, habits, nextRank(), nowMs, random, onLabel);
  const dust = random.chance(DUST_SHARE) ? dustBotOf(token, chain, nextRank(), nowMs, random) : undefined;
  const isTraded = token.usualPerMinute(nowMs) >= BOTS.perMinute;
  const bots = isDeep && isTraded ? botsOf(token, nextRank(), nowMs, random) : undefined;
  if (!random.chance(SIDE_POOL_SHARE)) return { makers, dust, bots, sidePool: undefined };
  const isIdle = random.chance(0.4);
  const traits: SidePoolTraits = {
    pool: random.address(),
    isIdle,
    depth: isIdle ? random.between(1.1, 3) : random.between(0.08, 0.5),
    perMinute: isIdle ? random.logBetween(0.002, 0.02) : random.logBetween(0.01, 0.6),
  };
  const sidePool = new SidePool(token, traits, wallets, nextRank(), nowMs, random);
  return { makers, dust, bots, sidePool };
}

/** Returns the actors around an honest new token: perhaps migrating makers and a dust bot. */
export function newcomerCompanions(
  token: ChainToken,
  chain: Chain,
  nextRank: () => number,
  nowMs: number,
  random: Random,
): readonly Actor[] {
  const company: Actor[] = [];
  if (random.chance(0.15)) {
    const habits = { rebalance: NEVER, jit: NEVER, migration: 0.4 };
    company.push(new Makers(token, habits, nextRank(), nowMs, random, chain.onLabel));
  }
  if (random.chance(DUST_SHARE)) company.push(dustBotOf(token, chain, nextRank(), nowMs, random));
  return company;
}

function dustBotOf(token: ChainToken, chain: Chain, rank: number, nowMs: number, random: Random): DustBot {
  const traits = { meanMinutes: random.logBetween(2, 12), distortion: random.logBetween(0.01, 0.3) };
  return new DustBot(token, traits, chain.wallets, rank, nowMs, random, chain.onLabel);
}

function botsOf(token: ChainToken, rank: number, nowMs: number, random: Random): TwoSidedBots | undefined {
  if (!random.chance(BOTS.share)) return undefined;
  const traits = { perMinute: random.logBetween(0.3, 1.5), wallets: 24 + random.below(60) };
  return new TwoSidedBots(token, traits, rank, nowMs, random);
}
