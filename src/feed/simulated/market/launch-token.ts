import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/time/time.ts";
import type { MarketGroup } from "../../../market/index.ts";
import type { Actor } from "./actors/actor.ts";
import { newcomerCompany } from "./actors/company.ts";
import { type Chain, ChainToken, type TokenTraits } from "./chain-token.ts";
import { everydayFate, type Fate, type Planner } from "./episodes/episode-schedule.ts";
import { planHoneypot, planRug } from "./episodes/plan-decoy.ts";
import { planPump } from "./episodes/plan-pump.ts";
import { inventName } from "./names.ts";
import { ESTABLISHED, laterProfiles, NEWCOMER, type Subject, SWINDLE } from "./profiles.ts";
import { Random } from "./random.ts";

const NEVER = Number.POSITIVE_INFINITY;
const FEE_SHARE = 0.0025;
/** Below this many dollars in the pool and trades a minute one wallet moves the price at will, and nobody is in its way. */
const SHALLOW_USD = 25_000;
const QUIET_PER_MINUTE = 0.8;
/** Mean hours between one token's scripts, beyond the quiet hour that follows each. */
const MEAN_HOURS_BSC = 15;
const MEAN_HOURS_ELSEWHERE = 19;
/** Of an idle token's: this many times as long. */
const IDLE_FACTOR = 2.7;
/** On chains most tokens are idle: traded once in 11 minutes to 6 hours. */
const IDLE_SHARE = 0.72;
/** How likely a difference of price is taken within a minute: by programs, or by chance where none watches. */
const ARBITRAGE_CHANCE = 0.7;
const IDLE_ARBITRAGE_CHANCE = 0.01;

/** A chain that can have tokens: what they share, and where it stands. */
export interface Birthplace {
  readonly seed: string;
  readonly group: MarketGroup;
  readonly chain: Chain;
}

/** A token that has been there for long. Its activity is log-normal and grows with its depth, so a few tokens make most of the trades. */
export function bornEstablished(place: Birthplace, serial: number, rank: number, nowMs: number): ChainToken {
  const birth = new Random(`${place.seed}/${place.group}/${serial}/birth`);
  const life = new Random(`${place.seed}/${place.group}/${serial}/life`);
  const subject = subjectOf(place, birth, nowMs - Math.floor(birth.logBetween(1, 900) * DAY_MS));
  const liquidityUsd = clamp(birth.logNormal(60_000, 1.4), 1_500, 20_000_000);
  const depth = Math.sqrt(liquidityUsd / 60_000);
  const isIdle = birth.chance(IDLE_SHARE);
  const perMinute = isIdle
    ? birth.logBetween(0.003, 0.09)
    : clamp(birth.logNormal(1.5 * depth, 1.45), 0.15, 90);
  const hours = (place.group === "bsc" ? MEAN_HOURS_BSC : MEAN_HOURS_ELSEWHERE) * (isIdle ? IDLE_FACTOR : 1);
  const traits: TokenTraits = {
    ...commonTraits(birth),
    rank,
    subject,
    value: { startUsd: birth.logBetween(1e-9, 30), ...temper(birth) },
    liquidityUsd,
    tradesPerMs: () => perMinute / MINUTE_MS,
    branching: birth.between(0.25, 0.55),
    arbitrageChance: isIdle ? IDLE_ARBITRAGE_CHANCE : ARBITRAGE_CHANCE,
    canSell: true,
    endsAtMs: NEVER,
    profiles: laterProfiles(subject, nowMs, ESTABLISHED, birth),
    nextFate: (now, liquidity) =>
      everydayFate(now, hours, liquidity < SHALLOW_USD && perMinute < QUIET_PER_MINUTE, life),
  };
  return new ChainToken(traits, place.chain, nowMs, life);
}

/** The chain's wrapped native token: a quote token, with much trade and no life but the market's. */
export function bornNative(place: Birthplace, rank: number, nowMs: number): ChainToken {
  const birth = new Random(`${place.seed}/${place.group}/native/birth`);
  const letter = place.group.slice(0, 1).toUpperCase();
  const naming = { name: `Wrapped Simulated ${letter}`, symbol: `WSIM${letter}` };
  const subject = {
    group: place.group,
    token: birth.address(),
    naming,
    createdAtMs: Math.max(0, nowMs - 900 * DAY_MS),
  };
  const traits: TokenTraits = {
    ...commonTraits(birth),
    rank,
    subject,
    quotedIn: "stable",
    value: { startUsd: place.chain.nativeUsd, volatility: 0, beta: 1 },
    liquidityUsd: 8_000_000,
    tradesPerMs: () => 24 / MINUTE_MS,
    branching: 0.3,
    arbitrageChance: ARBITRAGE_CHANCE,
    canSell: true,
    endsAtMs: NEVER,
    profiles: [],
    nextFate: () => null,
  };
  return new ChainToken(traits, place.chain, nowMs, new Random(`${place.seed}/${place.group}/native/life`));
}

/** What becomes of a newly listed token. */
type Destiny = "honest" | "rug" | "honeypot";

/** A token of today, its destiny, and who it is. */
interface Newcomer {
  readonly token: ChainToken;
  readonly subject: Subject;
  readonly destiny: Destiny;
  readonly pool: string;
  readonly liquidityUsd: number;
  /** Who else acts on it from now on. */
  readonly companions: readonly Actor[];
}

/**
 * A newly listed token: busy at first, then ever less. Of the honest a third is pumped soon after its launch; they are
 * traded for 3 to 48 hours and then forgotten. Rugs and honeypots end with their liquidity.
 */
export function bornNewcomer(
  place: Birthplace,
  serial: number,
  nextRank: () => number,
  nowMs: number,
): Newcomer {
  const birth = new Random(`${place.seed}/${place.group}/new/${serial}/birth`);
  const life = new Random(`${place.seed}/${place.group}/new/${serial}/life`);
  const destiny = birth.weighted<Destiny>([
    ["honest", 0.62],
    ["rug", 0.22],
    ["honeypot", 0.16],
  ]);
  const isHonest = destiny === "honest";
  const subject = subjectOf(place, birth, nowMs - Math.floor(birth.logBetween(1 / 60, 72) * HOUR_MS));
  const liquidityUsd = clamp(birth.logNormal(14_000, 0.9), 1_500, 500_000);
  const perMinute = clamp(birth.logNormal(isHonest ? 7 : 5, 0.7), 1, 30);
  let fate = firstFate(destiny, nowMs, birth);
  const traits: TokenTraits = {
    ...commonTraits(birth),
    rank: nextRank(),
    subject,
    value: { startUsd: birth.logBetween(1e-9, 0.01), ...temper(birth) },
    liquidityUsd,
    tradesPerMs: (atMs) => (perMinute / MINUTE_MS) * (1 + (atMs - nowMs) / (12 * MINUTE_MS)) ** -1.15,
    branching: birth.between(0.3, 0.5),
    arbitrageChance: ARBITRAGE_CHANCE,
    canSell: destiny !== "honeypot",
    endsAtMs: isHonest ? Math.ceil(nowMs + clamp(birth.logNormal(4, 0.8), 3, 48) * HOUR_MS) : NEVER,
    profiles: laterProfiles(subject, nowMs, isHonest ? NEWCOMER : SWINDLE, birth),
    nextFate: () => {
      const next = fate;
      fate = null;
      return next;
    },
  };
  const token = new ChainToken(traits, place.chain, nowMs, life);
  const company = new Random(`${place.seed}/${place.group}/new/${serial}/company`);
  const companions = isHonest ? newcomerCompany(token, place.chain, nextRank, nowMs, company) : [];
  return { token, subject, destiny, pool: traits.pool, liquidityUsd, companions };
}

function firstFate(destiny: Destiny, nowMs: number, random: Random): Fate | null {
  const within = (from: number, to: number) => Math.ceil(nowMs + random.between(from, to) * MINUTE_MS);
  switch (destiny) {
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

function subjectOf(place: Birthplace, birth: Random, createdAtMs: number): Subject {
  const naming = inventName(birth);
  return { group: place.group, token: birth.address(), naming, createdAtMs: Math.max(0, createdAtMs) };
}

function commonTraits(birth: Random) {
  const quotedIn: TokenTraits["quotedIn"] = birth.chance(0.6) ? "native" : "stable";
  return { pool: birth.address(), quotedIn, feeShare: FEE_SHARE };
}

/** How a token moves: about half a percent in a quarter of an hour, by itself, for a common one. */
function temper(birth: Random) {
  return { volatility: clamp(birth.logNormal(0.0011, 0.5), 0.0003, 0.003), beta: birth.between(0.8, 1.2) };
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}
