import { DAY_MS, MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { MarketEvent, Trade } from "../../../../base/market/index.ts";
import { TimedActor } from "../actors/actor.ts";
import { everydayEpisode } from "../episodes/episode-schedule.ts";
import type { LabelSink } from "../episodes/label.ts";
import type { MarketFactor } from "../episodes/market-factor.ts";
import { inventUniqueNames } from "../names.ts";
import type { Outages } from "../outages.ts";
import { laterProfiles, ON_EXCHANGE, type Subject } from "../profiles.ts";
import { Random } from "../random.ts";
import { ExchangePair } from "./exchange-pair.ts";
import { candleOf, type Minute } from "./minute.ts";
import { tradesOf } from "./minute-trades.ts";

const MEAN_HOURS_BETWEEN_SCRIPTS = 9;
/** Share of pairs that trade once in 2 to 50 minutes outside scripts. */
const IDLE_SHARE = 0.25;
/** With fewer trades per minute, one wallet can set the price. */
const SHALLOW_TRADES_PER_MINUTE = 5;
/** Of the venues, the first also reports single trades. */
const VENUE_WITH_TRADES = 0;
/** Busier pairs have candles only: their trades would take most of the time of a first start. */
const MOST_TRADES_PER_MINUTE = 12;

/** A pair with its venue and the minute that it is in. */
interface Listed {
  readonly symbol: string;
  readonly pair: ExchangePair;
  readonly venue: Outages | undefined;
  /** Draws the pair's trades; `null` if only its candles are known. */
  readonly fills: Random | null;
  minute: Minute | undefined;
}

/**
 * Emits each minute's candles of all pairs that traded, each at one of three venues. Most pairs of
 * the first venue have single trades as well.
 */
export class Exchange extends TimedActor {
  readonly subjects: readonly Subject[];
  readonly #pairs: readonly Listed[];
  /** The trades of this minute, in the order of time, and how many are emitted. */
  #trades: readonly Trade[] = [];
  #emitted = 0;
  #nextMinuteMs: number;

  constructor(
    seed: string,
    count: number,
    marketFactor: MarketFactor,
    onLabel: LabelSink,
    rank: number,
    nowMs: number,
    venues: readonly Outages[],
  ) {
    const firstMinuteMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
    super(rank, firstMinuteMs);
    this.#nextMinuteMs = firstMinuteMs;
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
      const hasTrades =
        serial % venues.length === VENUE_WITH_TRADES && tradesPerMinute <= MOST_TRADES_PER_MINUTE;
      return {
        symbol: one.symbol,
        pair: new ExchangePair(traits, marketFactor, onLabel, nowMs, life),
        venue: venues[serial % venues.length],
        fills: hasTrades ? new Random(`${seed}/exchange/${serial}/trades`) : null,
        minute: undefined,
      };
    });
  }

  protected perform(now: number, out: MarketEvent[]): number {
    if (now === this.#nextMinuteMs) this.#passMinute(now, out);
    let trade = this.#trades[this.#emitted];
    for (; trade && trade.at <= now; trade = this.#trades[this.#emitted]) {
      out.push(trade);
      this.#emitted += 1;
    }
    return trade?.at ?? this.#nextMinuteMs;
  }

  /** Emits the candles of the minute that ends, and decides the one that begins. */
  #passMinute(openAt: number, out: MarketEvent[]): void {
    this.#nextMinuteMs = openAt + MINUTE_MS;
    const trades: Trade[] = [];
    for (const one of this.#pairs) {
      if (one.minute) out.push(candleOf(one.symbol, one.minute));
      // A minute with an outage has neither a candle nor trades, even before the outage begins.
      one.minute = one.pair.passMinute(openAt, one.venue?.overlaps(openAt, this.#nextMinuteMs) ?? false);
      if (one.minute && one.fills) trades.push(...tradesOf(one.symbol, one.minute, one.fills));
    }
    this.#trades = trades.sort((a, b) => a.at - b.at);
    this.#emitted = 0;
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
