import { type CandlePlan, type CandleRow, type EndCounts, evaluateDetector } from "./candle-evaluation.ts";
import { engineDetector } from "./detectors.ts";
import { markdownTable } from "./markdown-table.ts";

/*
 * Scores the same minutes as candles of BSC and of the exchange. BSC's own form, single trades with
 * wallets and liquidity, needs data that no recording of an exchange has.
 */

/** Scores Flarewire on each form. */
export function evaluateForms(plan: CandlePlan): readonly CandleRow[] {
  return (["bsc", "exchange"] as const).map((group) =>
    evaluateDetector(`${group}, candles`, engineDetector({}, group), plan),
  );
}

/** Returns the scores of the forms as one table in Markdown. */
export function formsMarkdown(rows: readonly CandleRow[], title: string): string {
  const heads = ["form", "natural flares a pair-day", "pump 5 / 10 / 25 %", "wash / thin / wide"];
  const times = ["share ahead 5 / 10 / 25 %", "delay 10 % p50 / p90", "end to finish 5 / 10 / 25 %, p50"];
  const ends = ["pumps ended: faded / reversed / silent / canary", "natural ended"];
  const counts = Object.entries(rows[0]?.scores ?? {}).map(([kind, { n }]) => `${kind} ${n}`);
  return [
    ...[title, ""],
    ...markdownTable([...heads, ...times, ...ends], rows.map(cellsOf)),
    ...["", `n by class: ${counts.join(", ")}.`, ""],
  ].join("\n");
}

function cellsOf({ detector, naturalPerPairDay, scores, ahead, ends }: CandleRow): readonly string[] {
  const { pump5, pump10, pump25, wash, thin, wide } = scores;
  const three = (values: readonly number[], digits: number) =>
    values.map((value) => value.toFixed(digits)).join(" / ");
  const pumps = [pump5, pump10, pump25];
  return [
    ...[detector, naturalPerPairDay.toFixed(3)],
    three(
      pumps.map(({ fired }) => fired),
      3,
    ),
    three([wash.fired, thin.fired, wide.fired], 3),
    three([ahead.pump5, ahead.pump10, ahead.pump25], 2),
    `${pump10.delayP50} / ${pump10.delayP90}`,
    three(
      pumps.map(({ endP50 }) => endP50),
      0,
    ),
    ...[endsOf(ends.pumps), endsOf(ends.natural)],
  ];
}

function endsOf({ faded = 0, reversed = 0, silent = 0, canary = 0 }: EndCounts): string {
  return `${faded} / ${reversed} / ${silent} / ${canary}`;
}
