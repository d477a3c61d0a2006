import { DAY_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent } from "../../../../base/market/index.ts";
import { TimedActor } from "../actors/actor.ts";
import { everydayEpisode } from "../episodes/episode-schedule.ts";
import type { LabelSink } from "../episodes/label.ts";
import type { MarketFactor } from "../episodes/market-factor.ts";
import { inventUniqueNames } from "../names.ts";
import type { Outages } from "../outages.ts";
import { laterProfiles, ON_EXCHANGE, type Subject } from "../profiles.ts";
import { Random } from "../random.ts";
import { ExchangePair } from "./exchange-pair.ts";

const MEAN_HOURS_BETWEEN_SCRIPTS = 18;
/** Share of pairs that trade once in 2 to 50 minutes outside scripts. */
const IDLE_SHARE = 0.25;
/** With fewer trades per minute, one wallet can set the price. */
const SHALLOW_TRADES_PER_MINUTE = 5;

/** Emits each minute's candles of all pairs that traded, each at one of three venues. */
export class Exchange extends TimedActor {
  readonly subjects: readonly Subject[];
  readonly #pairs: readonly ExchangePair[];
  readonly #venues: readonly Outages[];

  constructor(
    seed: string,
    count: number,
    marketFactor: MarketFactor,
    onLabel: LabelSink,
    rank: number,
    nowMs: number,
    venues: readonly Outages[],
  ) {
    super(rank, (Math.ceil(nowMs / MINUTE_MS) + 1) * MINUTE_MS);
    this.#venues = venues;
    const naming = inventUniqueNames(count, new Random(`${seed}/exchange/names`));
    this.subjects = naming.map((one, serial) => ({
      group: "exchange",
      exchange: `venue${1 + (serial % venues.length)}`,
      token: one.symbol,
      naming: one,
      createdAtMs: Math.max(0, nowMs - 400 * DAY_MS),
    }));
    this.#pairs = naming.map((one, serial) => {
      const random = new Random(`${seed}/exchange/${serial}/birth`);
      const life = new Random(`${seed}/exchange/${serial}/life`);
      const isIdle = random.chance(IDLE_SHARE);
      const tradesPerMinute = isIdle
        ? random.logBetween(0.02, 0.5)
        : Math.min(400, random.logNormal(12, 1.3));
      const traits = {
        symbol: one.symbol,
        value: {
          startUsd: random.logBetween(1e-4, 3_000),
          volatility: Math.min(0.002, random.logNormal(0.0008, 0.4)),
          beta: random.between(0.8, 1.2),
        },
        tradesPerMinute,
        tradeUsd: random.logNormal(150, 0.8),
        nextEpisode: (now: number) =>
          everydayEpisode(now, MEAN_HOURS_BETWEEN_SCRIPTS, tradesPerMinute < SHALLOW_TRADES_PER_MINUTE, life),
      };
      return new ExchangePair(traits, marketFactor, onLabel, nowMs, life);
    });
  }

  protected perform(now: number, out: MarketEvent[]): number {
    const openAt = now - MINUTE_MS;
    for (const [serial, pair] of this.#pairs.entries()) {
      const venue = this.#venues[serial % this.#venues.length];
      pair.passMinute(openAt, venue !== undefined && openAt < venue.downUntilMs, out);
    }
    return now + MINUTE_MS;
  }
}

/** Returns the facts about the exchange's pairs that become known later, sorted by time. */
export function exchangeNews(seed: string, subjects: readonly Subject[], nowMs: number) {
  return subjects
    .flatMap((subject, serial) =>
      laterProfiles(subject, nowMs, ON_EXCHANGE, new Random(`${seed}/exchange/${serial}/news`)),
    )
    .sort((one, other) => one.at - other.at);
}
