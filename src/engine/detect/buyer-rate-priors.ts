import { decay } from "../../base/lib/statistics.ts";
import { MINUTE_MS } from "../../base/lib/time/time.ts";
import type { MarketGroup } from "../../base/market/index.ts";
import { byGroup } from "../../base/model/index.ts";
import type { DetectorSettings } from "../settings.ts";

/** Decaying sums over all tokens of one group whose liquidity has the same power of ten. */
interface Bucket {
  events: number;
  timeMs: number;
  atMs: number;
}

/** Initial prior: one distinct buyer in five minutes, worth an hour of evidence. */
const START_EVENTS = 12;
const START_MS = 3_600_000;

/**
 * The usual rate of distinct buyers, by group and power of ten of the liquidity: a prior for every
 * token.
 */
export class BuyerRatePriors {
  readonly #buckets: Map<string, Bucket>;
  readonly #settings: DetectorSettings;

  /** @param buckets From a checkpoint. */
  constructor(settings: DetectorSettings, buckets = new Map<string, Bucket>()) {
    this.#settings = settings;
    this.#buckets = buckets;
  }

  get buckets(): ReadonlyMap<string, Bucket> {
    return this.#buckets;
  }

  /** Returns the expected distinct buyers per millisecond. `null` is unknown liquidity. */
  rateOf(group: MarketGroup, liquidityUsd: number | null): number {
    const bucket = this.#buckets.get(nameOf(group, liquidityUsd));
    return bucket ? (START_EVENTS + bucket.events) / (START_MS + bucket.timeMs) : START_EVENTS / START_MS;
  }

  /** Adds one token's buyers of one minute to its bucket. */
  note(group: MarketGroup, liquidityUsd: number | null, buyers: number, atMs: number): void {
    const name = nameOf(group, liquidityUsd);
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      bucket = { events: 0, timeMs: 0, atMs };
      this.#buckets.set(name, bucket);
    }
    const left = decay(atMs - bucket.atMs, this.#settings.baselineMs);
    bucket.events = bucket.events * left + buyers;
    bucket.timeMs = bucket.timeMs * left + MINUTE_MS;
    bucket.atMs = atMs;
  }
}

const MIN_POWER = 2;
const MAX_POWER = 7;

/** Precomputed bucket names, because each token looks one up every minute. */
const NAMES = byGroup((group) =>
  Array.from({ length: MAX_POWER + 1 }, (_, power) => `${group}/${power < MIN_POWER ? "?" : power}`),
);

function nameOf(group: MarketGroup, liquidityUsd: number | null): string {
  if (liquidityUsd === null) return NAMES[group][0] ?? "";
  const power = Math.floor(Math.log10(Math.max(1, liquidityUsd)));
  return NAMES[group][Math.min(MAX_POWER, Math.max(MIN_POWER, power))] ?? "";
}
