import { DAY_MS, MINUTE_MS } from "../../../../lib/time/time.ts";
import type { MarketEvent } from "../../../../market/index.ts";
import type { Actor } from "../actors/actor.ts";
import { everydayFate } from "../episodes/episode-schedule.ts";
import type { LabelSink } from "../episodes/label.ts";
import type { Climate } from "../episodes/market-factor.ts";
import { inventUniqueNames } from "../names.ts";
import type { Outages } from "../outages.ts";
import { laterProfiles, ON_EXCHANGE, type Subject } from "../profiles.ts";
import { Random } from "../random.ts";
import { ExchangePair } from "./exchange-pair.ts";

const MEAN_HOURS_BETWEEN_SCRIPTS = 18;
/** So many pairs are traded once in 2 to 50 minutes, whatever is done to them. */
const IDLE_SHARE = 0.25;
/** With fewer trades a minute, one wallet moves the price at will. */
const SHALLOW_TRADES_PER_MINUTE = 5;

/** The exchange: when a minute of the clock is over, it prints the candles of all pairs that traded in it. Each pair is traded at one venue of three. */
export class Exchange implements Actor {
  readonly rank: number;
  readonly subjects: readonly Subject[];
  readonly #pairs: readonly ExchangePair[];
  readonly #venues: readonly Outages[];
  #nextAtMs: number;

  constructor(
    seed: string,
    count: number,
    climate: Climate,
    onLabel: LabelSink,
    rank: number,
    nowMs: number,
    venues: readonly Outages[],
  ) {
    this.rank = rank;
    this.#venues = venues;
    const naming = inventUniqueNames(count, new Random(`${seed}/exchange/names`));
    this.subjects = naming.map((one) => ({
      group: "exchange",
      token: one.symbol,
      naming: one,
      createdAtMs: Math.max(0, nowMs - 400 * DAY_MS),
    }));
    this.#pairs = naming.map((one, serial) => {
      const birth = new Random(`${seed}/exchange/${serial}/birth`);
      const life = new Random(`${seed}/exchange/${serial}/life`);
      const isIdle = birth.chance(IDLE_SHARE);
      const tradesPerMinute = isIdle ? birth.logBetween(0.02, 0.5) : Math.min(400, birth.logNormal(12, 1.3));
      const traits = {
        symbol: one.symbol,
        value: {
          startUsd: birth.logBetween(1e-4, 3_000),
          volatility: Math.min(0.002, birth.logNormal(0.0008, 0.4)),
          beta: birth.between(0.8, 1.2),
        },
        tradesPerMinute,
        tradeUsd: birth.logNormal(150, 0.8),
        nextFate: (now: number) =>
          everydayFate(now, MEAN_HOURS_BETWEEN_SCRIPTS, tradesPerMinute < SHALLOW_TRADES_PER_MINUTE, life),
      };
      return new ExchangePair(traits, climate, onLabel, nowMs, life);
    });
    this.#nextAtMs = (Math.ceil(nowMs / MINUTE_MS) + 1) * MINUTE_MS;
  }

  get nextAtMs(): number {
    return this.#nextAtMs;
  }

  act(out: MarketEvent[]): void {
    const openAt = this.#nextAtMs - MINUTE_MS;
    for (const [serial, pair] of this.#pairs.entries()) {
      const venue = this.#venues[serial % this.#venues.length];
      pair.passMinute(openAt, venue !== undefined && openAt < venue.downUntilMs, out);
    }
    this.#nextAtMs += MINUTE_MS;
  }
}

/** What becomes known about the pairs of the exchange, in the order of its moments. */
export function exchangeNews(seed: string, subjects: readonly Subject[], nowMs: number) {
  return subjects
    .flatMap((subject, serial) =>
      laterProfiles(subject, nowMs, ON_EXCHANGE, new Random(`${seed}/exchange/${serial}/news`)),
    )
    .sort((one, other) => one.at - other.at);
}
