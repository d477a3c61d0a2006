import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/lib/time/time.ts";
import type { MarketGroup } from "../../../base/market/index.ts";
import { newcomerCompanions } from "./actors/companions.ts";
import { Makers } from "./actors/makers.ts";
import { type Chain, ChainToken, type TokenTraits } from "./chain-token.ts";
import { type Episode, everydayEpisode, type Planner } from "./episodes/episode-schedule.ts";
import { planHoneypot, planRug } from "./episodes/plan-decoy.ts";
import { planPump } from "./episodes/plan-pump.ts";
import { planNewLocks, planRugLocks } from "./lp-locks.ts";
import { inventName } from "./names.ts";
import { ESTABLISHED, laterProfiles, NEWCOMER, type Subject, SWINDLE } from "./profiles.ts";
import { Random } from "./random.ts";

const NEVER = Number.POSITIVE_INFINITY;
/** Below these dollars in the pool and trades per minute, one wallet can set the price. */
const SHALLOW = { usd: 25_000, perMinute: 0.8 };
/**
 * Mean hours between one token's scripts, beyond the two quiet hours after each. On BSC, about 20
 * established tokens an hour are pumped, so that about seven flares run at any moment.
 */
const MEAN_HOURS = 7;
/** Most tokens are idle: they trade once in 11 minutes to 6 hours, with rarer scripts. */
const IDLE = { share: 0.72, hoursFactor: 1.2, arbitrageChance: 0.01 };
const ARBITRAGE_CHANCE = 0.7;

/** A chain, and its tokens' shared state. */
export interface ChainSetup {
  readonly seed: string;
  readonly group: MarketGroup;
  readonly chain: Chain;
}

/** Creates a token that is 1 to 900 days old. A few of these make most of the trades. */
export function createEstablished(
  setup: ChainSetup,
  serial: number,
  rank: number,
  nowMs: number,
): ChainToken {
  const random = new Random(`${setup.seed}/${setup.group}/${serial}/birth`);
  const life = new Random(`${setup.seed}/${setup.group}/${serial}/life`);
  const subject = subjectOf(setup, random, nowMs - Math.floor(random.logBetween(1, 900) * DAY_MS));
  const liquidityUsd = clamp(random.logNormal(60_000, 1.4), 1_500, 20_000_000);
  const depth = Math.sqrt(liquidityUsd / 60_000);
  const isIdle = random.chance(IDLE.share);
  const perMinute = isIdle
    ? random.logBetween(0.003, 0.09)
    : clamp(random.logNormal(1.3 * depth, 1.45), 0.15, 45);
  const hours = MEAN_HOURS * (isIdle ? IDLE.hoursFactor : 1);
  const traits: TokenTraits = {
    ...commonTraits(random),
    rank,
    subject,
    value: { startUsd: random.logBetween(1e-9, 30), ...temper(random) },
    liquidityUsd,
    tradesPerMs: () => perMinute / MINUTE_MS,
    branching: random.between(0.25, 0.55),
    arbitrageChance: isIdle ? IDLE.arbitrageChance : ARBITRAGE_CHANCE,
    canSell: true,
    endsAtMs: NEVER,
    profiles: laterProfiles(subject, nowMs, ESTABLISHED, random),
    nextEpisode: (now, liquidity) =>
      everydayEpisode(now, hours, liquidity < SHALLOW.usd && perMinute < SHALLOW.perMinute, life),
  };
  return new ChainToken(traits, setup.chain, nowMs, life);
}

/** Creates the chain's wrapped native token: a busy quote token that only follows the market. */
export function createNative(setup: ChainSetup, rank: number, nowMs: number): ChainToken {
  const random = new Random(`${setup.seed}/${setup.group}/native/birth`);
  const letter = setup.group.slice(0, 1).toUpperCase();
  const naming = { name: `Wrapped Simulated ${letter}`, symbol: `WSIM${letter}` };
  const subject = {
    group: setup.group,
    token: random.address(),
    naming,
    createdAtMs: Math.max(0, nowMs - 900 * DAY_MS),
  };
  const traits: TokenTraits = {
    ...commonTraits(random),
    rank,
    subject,
    quotedIn: "stable",
    value: { startUsd: setup.chain.nativeUsd, volatility: 0, beta: 1 },
    liquidityUsd: 8_000_000,
    tradesPerMs: () => 8 / MINUTE_MS,
    branching: 0.3,
    arbitrageChance: ARBITRAGE_CHANCE,
    canSell: true,
    endsAtMs: NEVER,
    profiles: [],
    nextEpisode: () => null,
  };
  return new ChainToken(traits, setup.chain, nowMs, new Random(`${setup.seed}/${setup.group}/native/life`));
}

type Outcome = "honest" | "rug" | "honeypot";

/**
 * Creates a newly listed token. A third of the honest ones are pumped. Rugs and honeypots end
 * almost without liquidity, and a lock ends before.
 */
export function createNewcomer(setup: ChainSetup, serial: number, nextRank: () => number, nowMs: number) {
  const random = new Random(`${setup.seed}/${setup.group}/new/${serial}/birth`);
  const life = new Random(`${setup.seed}/${setup.group}/new/${serial}/life`);
  const outcome = random.weighted<Outcome>([
    ["honest", 0.62],
    ["rug", 0.22],
    ["honeypot", 0.16],
  ]);
  const isHonest = outcome === "honest";
  const subject = subjectOf(setup, random, nowMs - Math.floor(random.logBetween(1 / 60, 72) * HOUR_MS));
  const liquidityUsd = clamp(random.logNormal(14_000, 0.9), 1_500, 500_000);
  const perMinute = clamp(random.logNormal(isHonest ? 7 : 5, 0.7), 1, 30);
  let episode = firstEpisode(outcome, nowMs, random);
  const locks = new Random(`${setup.seed}/${setup.group}/new/${serial}/locks`);
  const traits: TokenTraits = {
    ...commonTraits(random),
    rank: nextRank(),
    subject,
    value: { startUsd: random.logBetween(1e-9, 0.01), ...temper(random) },
    liquidityUsd,
    tradesPerMs: (atMs) => (perMinute / MINUTE_MS) * (1 + (atMs - nowMs) / (12 * MINUTE_MS)) ** -1.15,
    branching: random.between(0.3, 0.5),
    arbitrageChance: ARBITRAGE_CHANCE,
    canSell: outcome !== "honeypot",
    endsAtMs: isHonest ? Math.ceil(nowMs + clamp(random.logNormal(4, 0.8), 3, 48) * HOUR_MS) : NEVER,
    profiles: laterProfiles(subject, nowMs, isHonest ? NEWCOMER : SWINDLE, random),
    locksBefore: (now, removedAtMs) => planRugLocks(now, removedAtMs, locks),
    nextEpisode: () => {
      const next = episode;
      episode = null;
      return next;
    },
  };
  const token = new ChainToken(traits, setup.chain, nowMs, life);
  const company = new Random(`${setup.seed}/${setup.group}/new/${serial}/company`);
  const companions = isHonest ? newcomerCompanions(token, setup.chain, nextRank, nowMs, company) : [];
  const isMoved = companions.some((companion) => companion instanceof Makers);
  token.expect(planNewLocks(nowMs, isHonest && !isMoved, locks));
  return { token, outcome, pool: traits.pool, liquidityUsd, companions };
}

function firstEpisode(outcome: Outcome, nowMs: number, random: Random): Episode | null {
  const within = (from: number, to: number) => Math.ceil(nowMs + random.between(from, to) * MINUTE_MS);
  switch (outcome) {
    case "honest": {
      const launch: Planner = (stage, chance) => planPump(stage, chance, "launch");
      return random.chance(0.35) ? { atMs: within(2, 25), plan: launch } : null;
    }
    case "rug":
      return { atMs: within(1, 30), plan: planRug };
    case "honeypot":
      return { atMs: within(0.2, 5), plan: planHoneypot };
  }
}

function subjectOf(setup: ChainSetup, random: Random, createdAtMs: number): Subject {
  const naming = inventName(random);
  return { group: setup.group, token: random.address(), naming, createdAtMs: Math.max(0, createdAtMs) };
}

function commonTraits(random: Random) {
  const quotedIn: TokenTraits["quotedIn"] = random.chance(0.6) ? "native" : "stable";
  return { pool: random.address(), quotedIn, feeShare: 0.0025 };
}

/**
 * Draws a token's own volatility, typically about half a percent in a quarter of an hour, and its
 * share of the market's moves.
 */
function temper(random: Random) {
  return { volatility: clamp(random.logNormal(0.0011, 0.5), 0.0003, 0.003), beta: random.between(0.8, 1.2) };
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
