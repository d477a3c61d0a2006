import type { Outcome } from "../../src/model/index.ts";
import { markdownTable } from "./markdown-table.ts";
import { createRandom } from "./random.ts";
import { quantile, type Span } from "./score.ts";
import type { Market, Series } from "./series.ts";

/*
 * What prices did after flares, on a grid of minutes, beside random moments of the same tokens.
 * Computed from the market alone; only why flares ended is the engine's word.
 */

const HORIZONS = [5, 15, 60] as const;
/** Random moments for each flare. */
const CONTROLS = 5;
/** A price is known if the token traded within this many minutes. */
const KNOWN_MINUTES = 3;

/** A flare by its class, with the minute of the grid at whose close it was there. */
export interface Started {
  readonly kind: string;
  readonly pair: string;
  readonly at: number;
  /** Its final outcome, where the engine was asked. */
  readonly outcome?: Outcome | undefined;
}

/** What followed the flares of one class: shares of the starting price, less the market's. */
export interface OutcomeRow {
  readonly kind: string;
  readonly n: number;
  /** Medians after 5, 15 and 60 minutes; NaN where none is known. */
  readonly changes: readonly number[];
  readonly mean15: number;
  /** Share that rose within 15 minutes. */
  readonly rose15: number;
  /** Shares ended by the canary, collapsed, and warned of before; NaN without the engine's word. */
  readonly byCanary: number;
  readonly collapsed: number;
  readonly warned: number;
}

/** Measures each class and, beside it, the control, from minute `from` of the grid on. */
export function measureOutcomes(
  market: Market,
  starts: readonly Started[],
  from: number,
): readonly OutcomeRow[] {
  const random = createRandom(104_729);
  const [first, last] = [from, market.minutes - 61];
  const seen = starts.filter(({ at }) => at >= first && at <= last);
  const classes = Map.groupBy(seen, ({ kind }) => kind);
  return [...classes].flatMap(([kind, flares]) => {
    const control = flares.flatMap(({ pair }) =>
      Array.from({ length: CONTROLS }, () => ({ kind, pair, at: random.whole(first, last) })),
    );
    return [rowOf(market, kind, flares), rowOf(market, `${kind}: control`, control)];
  });
}

function rowOf(market: Market, kind: string, starts: readonly Started[]): OutcomeRow {
  const bySeries = new Map(market.series.map((series) => [series.pair, series]));
  const changes = HORIZONS.map((minutes) =>
    starts.flatMap(({ pair, at }) => {
      const series = bySeries.get(pair);
      return (series && relativeChange(market, series, at, minutes)) ?? [];
    }),
  );
  const after15 = changes[1] ?? [];
  const outcomes = starts.flatMap(({ outcome }) => outcome ?? []);
  const collapsed = outcomes.filter(({ collapsed_at }) => collapsed_at !== null);
  const share = (part: number, all: number) => (all === 0 ? Number.NaN : part / all);
  return {
    kind,
    n: starts.length,
    changes: changes.map((all) => quantile(all, 0.5)),
    mean15: share(
      after15.reduce((a, b) => a + b, 0),
      after15.length,
    ),
    rose15: share(after15.filter((change) => change > 0).length, after15.length),
    byCanary: share(outcomes.filter(({ ended_by }) => ended_by === "canary").length, outcomes.length),
    collapsed: share(collapsed.length, outcomes.length),
    warned: share(
      collapsed.filter(({ collapse_warning_s }) => (collapse_warning_s ?? 0) > 0).length,
      collapsed.length,
    ),
  };
}

/** The change over this many minutes, minus the median change of the tokens that trade. */
function relativeChange(market: Market, series: Series, at: number, minutes: number): number | undefined {
  if (!isKnown(series, at) || !isKnown(series, at + minutes)) return undefined;
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

/** The flares of one class, on the grid of a market whose times are minutes. */
export function startedOf(kind: string, spans: readonly Span[]): readonly Started[] {
  return spans.map(({ pair, startAt }) => ({ kind, pair, at: startAt }));
}

/** The table in Markdown; empty without rows. */
export function outcomeTable(rows: readonly OutcomeRow[], title: string): readonly string[] {
  if (rows.length === 0) return [];
  const pct = (share: number) => (Number.isNaN(share) ? "–" : (share * 100).toFixed(1));
  const cells = rows.map(({ kind, n, changes, mean15, rose15, byCanary, collapsed, warned }) => [
    ...[kind, String(n), changes.map(pct).join(" / "), pct(mean15), pct(rose15)],
    ...[pct(byCanary), pct(collapsed), pct(warned)],
  ]);
  const heads = ["class", "n", "change after 5 / 15 / 60 min, p50", "mean 15", "rose by 15"];
  return [
    title,
    "",
    ...markdownTable([...heads, "ended by canary", "collapsed", "of these warned"], cells),
    "",
  ];
}
