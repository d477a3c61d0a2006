import {
  EMPTY_SNAPSHOT,
  type Explanation,
  type Flare,
  type Snapshot,
} from "../../../../src/base/model/index.ts";
import { SAMPLE_BSC_CHART_ITEM, SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../../support/world/samples.ts";
import { ToldSource } from "../../../support/world/told-source.ts";

/** A source with this many flares. The bench decides how many change, and how often. */
export class TickingMarket extends ToldSource {
  readonly info = {
    name: "ticking",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  } as const;
  #flares: readonly Flare[];
  #explanations: Readonly<Record<string, Explanation>>;
  /** Created once with ten prices, because the real chart changes once a minute only. */
  readonly #chart: Snapshot["charts"]["bsc"];
  #next = 0;

  constructor(count: number) {
    super();
    this.#flares = Array.from({ length: count }, (_, at) => flareOf(at));
    this.#explanations = Object.fromEntries(this.#flares.map(({ id }) => [id, SAMPLE_EXPLANATION]));
    this.#chart = this.#flares.slice(0, 10).map(({ id, token }) => ({
      ...SAMPLE_BSC_CHART_ITEM,
      id,
      latest_candle_prices: Array.from({ length: 60 }, (_, minute) => minute % 7),
      flare: { ...SAMPLE_BSC_CHART_ITEM.flare, id, token },
    }));
    this.#say();
  }

  /**
   * Changes this many flares in turn, with their row and explanation: one batch with an event for
   * each.
   */
  tick(count: number): void {
    const flares = [...this.#flares];
    const explanations = { ...this.#explanations };
    for (let change = 0; change < count; change++) {
      const at = this.#next++ % flares.length;
      const flare = flares[at];
      if (!flare) continue;
      const { id } = flare;
      flares[at] = {
        ...flare,
        recent_price_change: (this.#next % 41) - 20,
        latest_buy_count: this.#next % 300,
        liquidity: String(1_000 + ((this.#next * 37) % 90_000)),
      };
      explanations[id] = {
        ...SAMPLE_EXPLANATION,
        score: 2 + (this.#next % 30) / 10,
        warnings: this.#next % 3 === 0 ? ["unverified-source"] : [],
      };
    }
    this.#flares = flares;
    this.#explanations = explanations;
    this.#say();
  }

  #say(): void {
    const { flares, charts, ...others } = EMPTY_SNAPSHOT;
    const snapshot: Snapshot = {
      ...others,
      flares: { ...flares, pro: [...this.#flares] },
      charts: { ...charts, bsc: this.#chart },
      explanations: this.#explanations,
    };
    this.tell({ observedAtMs: Date.now(), snapshot });
  }
}

function flareOf(at: number): Flare {
  const { token } = SAMPLE_FLARE;
  return {
    ...SAMPLE_FLARE,
    id: `3b241101-e2bb-5255-8caf-${String(at).padStart(12, "0")}`,
    // Every flare has a different age, from seconds to hours.
    started_trending_at: new Date(Date.now() - at * 20_000).toISOString(),
    token: {
      ...token,
      symbol: `T${at}`,
      name: `Token number ${at}`,
      address: `0x${String(at).padStart(40, "0")}`,
    },
  };
}
