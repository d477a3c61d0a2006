import type { FinishCause, Outcome } from "../../../src/base/model/index.ts";
import { markdownTable } from "./markdown-table.ts";
import { createRandom } from "./random.ts";
import { quantile } from "./score.ts";
import type { Market, Series } from "./series.ts";

/*
 * Compares price changes after flares, from the engine's outcomes, with those after random moments
 * of the same tokens, computed from the market alone.
 */

const HORIZONS = [5, 15, 60] as const;
/** Number of random moments per flare. */
const CONTROLS = 5;
/** A price is known if the token traded within this many minutes. */
const KNOWN_MINUTES = 3;

/** A flare with its class and final outcome. */
export interface Followed {
  readonly kind: string;
  readonly pair: string;
  readonly outcome: Outcome;
}

/** The flares of one run and its market, scored from minute `from` of the grid. */
export interface FollowedRun {
  readonly market: Market;
  readonly from: number;
  readonly flares: readonly Followed[];
}

/** Price changes after the flares of one class. All changes are shares; NaN if none is known. */
export interface OutcomeRow {
  readonly kind: string;
  readonly n: number;
  /** Medians after 5, 15 and 60 minutes, minus the market's. */
  readonly changes: readonly number[];
  readonly mean15: number;
  /** Share that rose within 15 minutes. */
  readonly rose15: number;
  /** Medians up to the peak and up to the flare's end, not relative to the market. */
  readonly peak: number;
  readonly end: number;
  /** Share of flares that ended by each cause. */
  readonly ends: Readonly<Record<FinishCause, number>>;
  readonly collapsed: number;
  /** Share of the collapsed flares for which the canary was on before. */
  readonly warned: number;
}

/** Pools the runs. After each class comes its control: random moments of the same tokens. */
export function measureOutcomes(runs: readonly FollowedRun[]): readonly OutcomeRow[] {
  const random = createRandom(104_729);
  const controls = new Map<string, number[][]>();
  const outcomes = new Map<string, Outcome[]>();
  for (const { market, from, flares } of runs) {
    const bySeries = new Map(market.series.map((series) => [series.pair, series]));
    for (const { kind, pair, outcome } of flares) {
      outcomes.set(kind, [...(outcomes.get(kind) ?? []), outcome]);
      const own = controls.get(kind) ?? [];
      controls.set(kind, own);
      const series = bySeries.get(pair);
      for (let n = 0; n < CONTROLS && series; n++) {
        const at = random.whole(from, market.minutes - 61);
        own.push(HORIZONS.map((minutes) => relativeChange(market, series, at, minutes)));
      }
    }
  }
  return [...outcomes].flatMap(([kind, own]) => [
    rowOf(kind, own.map(relativeChanges), own),
    rowOf(`${kind}: control`, controls.get(kind) ?? [], []),
  ]);
}

function relativeChanges(outcome: Outcome): readonly number[] {
  const { relative_change_5m, relative_change_15m, relative_change_60m } = outcome;
  return [relative_change_5m, relative_change_15m, relative_change_60m].map(toShare);
}

function toShare(percent: number | null): number {
  return percent === null ? Number.NaN : percent / 100;
}

function rowOf(
  kind: string,
  changes: readonly (readonly number[])[],
  outcomes: readonly Outcome[],
): OutcomeRow {
  const knownOf = (values: readonly number[]) => values.filter((value) => !Number.isNaN(value));
  const after = HORIZONS.map((_, index) => knownOf(changes.map((all) => all[index] ?? Number.NaN)));
  const after15 = after[1] ?? [];
  const share = (part: number, all: number) => (all === 0 ? Number.NaN : part / all);
  const endedBy = (cause: FinishCause) =>
    share(outcomes.filter(({ ended_by }) => ended_by === cause).length, outcomes.length);
  const collapsed = outcomes.filter(({ collapsed_at }) => collapsed_at !== null);
  const warned = collapsed.filter(({ collapse_warning_s }) => (collapse_warning_s ?? 0) > 0);
  const medianOf = (percents: readonly (number | null)[]) => quantile(knownOf(percents.map(toShare)), 0.5);
  return {
    kind,
    n: changes.length,
    changes: after.map((known) => quantile(known, 0.5)),
    mean15: share(
      after15.reduce((a, b) => a + b, 0),
      after15.length,
    ),
    rose15: share(after15.filter((change) => change > 0).length, after15.length),
    peak: medianOf(outcomes.map(({ peak_change }) => peak_change)),
    end: medianOf(outcomes.map(({ end_change }) => end_change)),
    ends: {
      faded: endedBy("faded"),
      reversed: endedBy("reversed"),
      silent: endedBy("silent"),
      canary: endedBy("canary"),
      upstream: endedBy("upstream"),
    },
    collapsed: share(collapsed.length, outcomes.length),
    warned: share(warned.length, collapsed.length),
  };
}

/** Returns the change over this many minutes, minus the median change of the tokens that trade. */
function relativeChange(market: Market, series: Series, at: number, minutes: number): number {
  if (!isKnown(series, at) || !isKnown(series, at + minutes)) return Number.NaN;
  const all = market.series.filter((one) => isKnown(one, at) && isKnown(one, at + minutes));
  return (
    changeOf(series, at, minutes) -
    quantile(
      all.map((one) => changeOf(one, at, minutes)),
      0.5,
    )
  );
}

function changeOf({ close }: Series, at: number, minutes: number): number {
  return (close[at + minutes] ?? Number.NaN) / (close[at] ?? Number.NaN) - 1;
}

function isKnown({ volume, close }: Series, at: number): boolean {
  return (close[at] ?? 0) > 0 && volume.subarray(at - KNOWN_MINUTES + 1, at + 1).some((usd) => usd > 0);
}

/** Returns the table in Markdown; empty without rows. */
export function outcomeTable(rows: readonly OutcomeRow[], title: string): readonly string[] {
  if (rows.length === 0) return [];
  const pct = (share: number) => (Number.isNaN(share) ? "–" : (share * 100).toFixed(1));
  const all = (shares: readonly number[]) => (shares.every(Number.isNaN) ? "–" : shares.map(pct).join(" / "));
  const cells = rows.map(({ kind, n, changes, mean15, rose15, peak, end, ends, collapsed, warned }) => [
    ...[kind, String(n), all(changes), pct(mean15), pct(rose15), all([peak, end])],
    ...[all([ends.faded, ends.reversed, ends.silent, ends.canary]), pct(collapsed), pct(warned)],
  ]);
  const heads = ["class", "n", "change after 5 / 15 / 60 min, p50", "mean 15", "rose by 15"];
  const ends = ["to the peak / to the end, p50", "ended: faded / reversed / silent / canary"];
  return [title, "", ...markdownTable([...heads, ...ends, "collapsed", "of these warned"], cells), ""];
}
