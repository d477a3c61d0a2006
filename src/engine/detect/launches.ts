import { clip, decay } from "../../base/lib/statistics.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketGroup } from "../../base/market/index.ts";
import type { DetectorSettings } from "../settings.ts";
import type { TokenState } from "../state/token-state.ts";
import type { TradeState } from "./measures/trade-detector.ts";
import { listedSince } from "./pools.ts";
import { type Reading, weigh } from "./score.ts";

/*
 * What launches usually do: every new token has many buyers, much volume and a rise, compared with
 * an older one. So a token of less than an hour is compared with other launches of its group, at
 * the same time since their first trade.
 */

type Facts = Readonly<Record<"buyers" | "dollars" | "rise", number>>;
const NAMES = ["buyers", "dollars", "rise"] as const;

/** Mean and deviation of each fact. */
type Usual = Readonly<Record<keyof Facts, readonly [mean: number, deviation: number]>>;

/**
 * The initial assumption, by minutes since the first trade: 190 Uniswap V2 pools of Ethereum with
 * at least 20 trades, created in September and October 2021, measured on 29 November 2026.
 */
const ASSUMED: readonly (readonly [minutes: number, usual: Usual])[] = [
  [1, { buyers: [1.66, 0.98], dollars: [1.63, 1.36], rise: [0.55, 0.73] }],
  [2, { buyers: [1.96, 0.98], dollars: [1.95, 1.42], rise: [0.68, 0.79] }],
  [5, { buyers: [2.27, 0.94], dollars: [2.34, 1.4], rise: [0.96, 0.9] }],
  [10, { buyers: [2.1, 0.84], dollars: [2.29, 1.33], rise: [1.09, 0.92] }],
  [20, { buyers: [1.52, 0.85], dollars: [1.84, 1.2], rise: [1.13, 0.96] }],
  [40, { buyers: [0.91, 0.81], dollars: [1.23, 1.07], rise: [1.23, 0.99] }],
  [60, { buyers: [0.62, 0.66], dollars: [0.88, 0.98], rise: [1.28, 1.04] }],
];
/** Weight of the assumption, in launches. */
const ASSUMED_WEIGHT = 50;
/** Lower bound of a deviation, for launches that are all alike, as an attacker's could be. */
const MIN_DEVIATION = 0.5;
/** Dollars are counted in this unit before the logarithm, so that small sums count as none. */
const DOLLARS = 1_000;
/** z of the share of dollars bought above one half: 5 if nobody sells. */
const LAUNCH_SHARE_Z = 10;
/** Bound on the logarithm of a rise. */
const MAX_RISE = 3;

/** Decaying sums over a group's launches, for one time since the first trade. */
export interface LaunchSums {
  atMs: number;
  weight: number;
  /** Sums and sums of squares, in the order of {@link NAMES}. */
  readonly sums: number[];
  readonly squares: number[];
}

/** What launches had, by group and time since their first trade. Learned as time passes. */
export class Launches {
  readonly #sums: Map<string, LaunchSums>;
  /** What follows from the sums of a name, until they change. */
  readonly #usuals = new Map<string, Usual>();
  readonly #settings: DetectorSettings;

  /** @param sums From a checkpoint. */
  constructor(settings: DetectorSettings, sums = new Map<string, LaunchSums>()) {
    this.#settings = settings;
    this.#sums = sums;
  }

  get sums(): ReadonlyMap<string, LaunchSums> {
    return this.#sums;
  }

  /** Learns from a token with a known listing at the end of a minute. Trade sums are of `atMs`. */
  note(token: TokenState, trades: TradeState, atMs: number): void {
    const minutes = Math.floor((atMs - trades.sinceMs) / MINUTE_MS);
    if (!ASSUMED.some(([age]) => age === minutes)) return;
    const listedMs = listedSince(token);
    if (listedMs === null || trades.sinceMs - listedMs >= HOUR_MS) return;
    const name = `${token.group}/${minutes}`;
    const before = this.#sums.get(name) ?? { atMs, weight: 0, sums: [0, 0, 0], squares: [0, 0, 0] };
    const left = decay(Math.max(0, atMs - before.atMs), DAY_MS);
    const facts = factsOf(trades);
    const add = (sums: readonly number[], power: number) =>
      NAMES.map((fact, n) => (sums[n] ?? 0) * left + facts[fact] ** power);
    const { weight, sums, squares } = before;
    this.#sums.set(name, { atMs, weight: weight * left + 1, sums: add(sums, 1), squares: add(squares, 2) });
    this.#usuals.delete(name);
  }

  /**
   * Compares a token whose listing is known and less than an hour ago with other launches: its
   * buyers and price count as unusual only if they are for a launch, too. Its own usual volume
   * means nothing yet, so that of launches replaces it.
   */
  compare(reading: Reading, token: TokenState, trades: TradeState, atMs: number): void {
    if (atMs - trades.sinceMs >= HOUR_MS) return;
    const listedMs = listedSince(token);
    if (listedMs === null || atMs - listedMs >= HOUR_MS) return;
    const facts = factsOf(trades);
    const { buyers, imbalance, price, volume } = reading.terms;
    const usual = this.#usual(token.group, (atMs - trades.sinceMs) / MINUTE_MS);
    const zOf = (fact: keyof Facts) => {
      const [mean, deviation] = usual(fact);
      return { mean, z: (facts[fact] - mean) / (deviation * this.#settings.launchDeviations) };
    };
    const crowd = zOf("buyers");
    if (crowd.z < buyers.z) {
      buyers.z = crowd.z;
      buyers.usual = Math.expm1(crowd.mean);
    }
    price.z = Math.min(price.z, zOf("rise").z);
    // Net buying has no usual yet, and every launch has much, so its share bounds it.
    imbalance.z = Math.min(imbalance.z, LAUNCH_SHARE_Z * imbalance.raw);
    const money = zOf("dollars");
    volume.z = money.z;
    volume.usual = 1;
    volume.raw = trades.usd / (DOLLARS * Math.expm1(money.mean));
    reading.activity = buyers.z;
    weigh(reading);
  }

  /** Returns mean and deviation between two known times, on a logarithmic scale of time. */
  #usual(group: MarketGroup, minutes: number): (fact: keyof Facts) => Usual[keyof Facts] {
    const next = ASSUMED.findIndex(([age]) => minutes < age);
    const [from, to] = [ASSUMED.at(Math.max(0, next - 1)), ASSUMED.at(next)];
    if (!from || !to) return () => [0, 1];
    const [low, high] = [this.#usualAt(group, from), this.#usualAt(group, to)];
    const share = from === to ? 0 : Math.log(minutes / from[0]) / Math.log(to[0] / from[0]);
    const between = (a: number, b: number) => a + (b - a) * share;
    return (fact) => [between(low[fact][0], high[fact][0]), between(low[fact][1], high[fact][1])];
  }

  #usualAt(group: MarketGroup, [minutes, assumed]: (typeof ASSUMED)[number]): Usual {
    const name = `${group}/${minutes}`;
    const found = this.#usuals.get(name);
    if (found) return found;
    const known = this.#sums.get(name);
    const usualOf = (fact: keyof Facts) => {
      const [mean, deviation] = assumed[fact];
      const n = NAMES.indexOf(fact);
      const weight = ASSUMED_WEIGHT + (known?.weight ?? 0);
      const average = (ASSUMED_WEIGHT * mean + (known?.sums[n] ?? 0)) / weight;
      const square =
        (ASSUMED_WEIGHT * (mean * mean + deviation * deviation) + (known?.squares[n] ?? 0)) / weight;
      const spread = Math.sqrt(Math.max(0, square - average * average));
      return [average, Math.max(MIN_DEVIATION, spread)] as const;
    };
    const usual = { buyers: usualOf("buyers"), dollars: usualOf("dollars"), rise: usualOf("rise") };
    this.#usuals.set(name, usual);
    return usual;
  }
}

function factsOf({ buyers, usd, price, startPrice }: TradeState): Facts {
  const rise = price > 0 && startPrice > 0 ? clip(Math.log(price / startPrice), -MAX_RISE, MAX_RISE) : 0;
  return { buyers: Math.log1p(buyers), dollars: Math.log1p(usd / DOLLARS), rise };
}
