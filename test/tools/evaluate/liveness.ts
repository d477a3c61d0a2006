import type { MarketGroup } from "../../../src/base/market/index.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { type LastTrades, nameOf } from "./last-trades.ts";
import { MINUTE_MS } from "./series.ts";

const QUIET_MS = 5 * MINUTE_MS;
const CHART_SILENT_MS = 10 * MINUTE_MS;
const FLARE_SILENT_MS = 15 * MINUTE_MS;
/** Maximum distance of a right price from the last trade's, as log ratio. */
const PRICE_TOLERANCE = 0.05;

/**
 * Counts, once a minute, how many served items belong to tokens that trade. Excludes minutes in
 * which a whole chain is silent, and the 15 minutes after.
 */
export interface Liveness {
  /** Flares in `pro`, and those with at most 2 trades in the last 5 minutes. */
  readonly proFlares: number;
  readonly deadProFlares: number;
  /**
   * Running flares of all groups, those without a trade for 15 minutes, and the tokens of the
   * latter.
   */
  readonly flares: number;
  readonly silentFlares: number;
  readonly silentFlaringTokens: number;
  /** Charted tokens, and those without a trade for 10 minutes; the same at rank 1. */
  readonly charted: number;
  readonly silentCharted: number;
  readonly first: number;
  readonly silentFirst: number;
  /** `pro` flares whose price is more than 5 % off the last trade's. */
  readonly mispricedFlares: number;
  /** Entries of `newest`, and those of tokens that are not new. */
  readonly newest: number;
  readonly oldNewest: number;
}

type Counts = { -readonly [Name in keyof Liveness]: number };

const NOTHING: Liveness = {
  ...{ proFlares: 0, deadProFlares: 0, flares: 0, silentFlares: 0, silentFlaringTokens: 0 },
  ...{ charted: 0, silentCharted: 0, first: 0, silentFirst: 0, mispricedFlares: 0 },
  ...{ newest: 0, oldNewest: 0 },
};

/** Counts {@link Liveness} from snapshots and the true trades. */
export class LivenessBook {
  readonly counts: Counts = { ...NOTHING };
  readonly #labels: readonly Label[];
  readonly #trades: LastTrades;
  readonly #silentTokens = new Set<string>();

  /** `labels` may grow while the book is used. */
  constructor(labels: readonly Label[], trades: LastTrades) {
    this.#labels = labels;
    this.#trades = trades;
  }

  /** Counts a minute. `flaring`: tokens of all groups that flare now. */
  sample(snapshot: Snapshot, flaring: ReadonlyMap<string, number>, atMs: number): void {
    const outages = this.#labels.filter(({ kind, shape, endAtMs }) => {
      return kind === "outage" && shape === "chain" && endAtMs + FLARE_SILENT_MS > atMs;
    });
    const isHeard = (group: string) => !outages.some((outage) => outage.group === group);
    if (isHeard("bsc")) this.#sampleBsc(snapshot, atMs);
    for (const pair of flaring.keys()) {
      if (!isHeard(pair.slice(0, pair.indexOf(" ")))) continue;
      this.counts.flares += 1;
      if (this.#trades.silentSince(pair) > atMs - FLARE_SILENT_MS) continue;
      this.counts.silentFlares += 1;
      this.#silentTokens.add(pair);
    }
    this.counts.silentFlaringTokens = this.#silentTokens.size;
    for (const [group, names] of chartsOf(snapshot))
      if (isHeard(group)) this.#sampleChart(group, names, atMs);
  }

  #sampleBsc({ flares, newest }: Snapshot, atMs: number): void {
    for (const { token } of flares.pro) {
      const pair = nameOf("bsc", token.address);
      this.counts.proFlares += 1;
      if (this.#trades.quietSince(pair) <= atMs - QUIET_MS) this.counts.deadProFlares += 1;
      const off = Math.abs(Math.log(Number(token.price) / this.#trades.priceOf(pair)));
      if (off > PRICE_TOLERANCE) this.counts.mispricedFlares += 1;
    }
    if (newest.bsc.length === 0) return;
    const listed = this.#labels.filter(({ kind }) => kind === "listing").slice(-200);
    const isNew = new Set(listed.map(({ token }) => token));
    this.counts.newest += newest.bsc.length;
    this.counts.oldNewest += newest.bsc.filter(({ token }) => !isNew.has(token.address)).length;
  }

  #sampleChart(group: MarketGroup, names: readonly string[], atMs: number): void {
    for (const [rank, name] of names.entries()) {
      const isSilent = this.#trades.silentSince(nameOf(group, name)) <= atMs - CHART_SILENT_MS;
      this.counts.charted += 1;
      if (isSilent) this.counts.silentCharted += 1;
      if (rank > 0) continue;
      this.counts.first += 1;
      if (isSilent) this.counts.silentFirst += 1;
    }
  }
}

/** Adds up the counts of several runs. */
export function sumLiveness(runs: readonly Liveness[]): Liveness {
  const sum = (name: keyof Liveness) => runs.reduce((total, run) => total + run[name], 0);
  return {
    proFlares: sum("proFlares"),
    deadProFlares: sum("deadProFlares"),
    flares: sum("flares"),
    silentFlares: sum("silentFlares"),
    silentFlaringTokens: sum("silentFlaringTokens"),
    charted: sum("charted"),
    silentCharted: sum("silentCharted"),
    first: sum("first"),
    silentFirst: sum("silentFirst"),
    mispricedFlares: sum("mispricedFlares"),
    newest: sum("newest"),
    oldNewest: sum("oldNewest"),
  };
}

function chartsOf({ charts }: Snapshot): readonly (readonly [MarketGroup, readonly string[]])[] {
  return [
    ["bsc", charts.bsc.map(({ flare }) => flare.token.address)],
    ["exchange", charts.exchange.map(({ token }) => token.symbol)],
    ["matic", charts.matic.map(({ token }) => token.address)],
    ["avalanche", charts.avalanche.map(({ token }) => token.address)],
  ];
}
