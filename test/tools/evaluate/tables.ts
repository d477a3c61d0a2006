import type { CandleRow } from "./candle-evaluation.ts";
import { markdownTable } from "./markdown-table.ts";
import { measuresMarkdown } from "./market-tables.ts";
import type { Score } from "./score.ts";
import type { CanaryScore, KindScore, SimulatedResult, SimulatedRow } from "./simulated-evaluation.ts";
import type { WideMove } from "./wide-moves.ts";

/** All measurements, and the data on which they were made. */
export interface Evaluation {
  /** Name of the recording, its scored half, and the seeds of the injected episodes. */
  readonly candles: { readonly file: string; readonly half: string; readonly seeds: readonly number[] };
  readonly candleRows: readonly CandleRow[];
  readonly simulated: { readonly seeds: readonly number[]; readonly hours: number };
  readonly simulatedRows: readonly SimulatedRow[];
  readonly canary: readonly CanaryScore[];
  /** The requested measures that only Flarewire has. */
  readonly measured: SimulatedResult | undefined;
  readonly wideMoves: readonly WideMove[] | undefined;
}

/** Unit of printed delays. */
type Unit = "min" | "s";

/** Returns the tables in Markdown, as src/engine/README.md contains them. */
export function toMarkdown(result: Evaluation): string {
  const { candles, simulated } = result;
  const candleTable = [
    `Episodes injected into real candles (${candles.file}, ${candles.half} half of the days, seeds ${candles.seeds.join(", ")}); delays in minutes:`,
    "",
    ...markdownTable(
      ["detector", "natural flares a pair-day", ...CANDLE_HEADS],
      result.candleRows.map(candleCells),
    ),
    "",
    `n by class, ${result.candleRows[0]?.detector ?? ""} (left out, already flaring): ${countsOf(result.candleRows[0])}.`,
    "",
  ];
  return [
    ...(result.candleRows.length > 0 ? candleTable : []),
    ...(result.simulatedRows.length > 0 ? simulatedMarkdown(simulated, result.simulatedRows) : []),
    ...(result.canary.length > 0 ? canaryMarkdown(result.canary) : []),
    measuresOf(result),
  ].join("\n");
}

function measuresOf({ candleRows, measured, wideMoves }: Evaluation): string {
  return measuresMarkdown({
    candleRows,
    ...(measured && { simulated: measured }),
    ...(wideMoves && { wideMoves }),
  });
}

/** Returns all results as text, for a terminal. */
export function toText(result: Evaluation): string {
  const { candles, simulated } = result;
  const lines: string[] = [];
  if (result.candleRows.length > 0)
    lines.push(
      `${candles.half} half of ${candles.file}, seeds ${candles.seeds.join(" ")}; delays in minutes`,
    );
  for (const { detector, naturalPerPairDay, naturalWhereTuned, scores } of result.candleRows) {
    const tuned = naturalWhereTuned.toFixed(2);
    lines.push(
      "",
      `${detector}: ${naturalPerPairDay.toFixed(2)} natural flares per pair-day (first half ${tuned})`,
    );
    lines.push(heading(false));
    for (const [kind, score] of Object.entries(scores)) lines.push(line(kind, score, "min"));
  }
  if (result.simulatedRows.length > 0) {
    const seeds = simulated.seeds.join(" ");
    lines.push(
      "",
      `simulated market, ${simulated.hours} h after 6 h of warm-up, seeds ${seeds}; delays in seconds`,
    );
  }
  for (const { detector, naturalPerHour, kinds } of result.simulatedRows) {
    const natural = Number.isNaN(naturalPerHour)
      ? ""
      : `: ${naturalPerHour.toFixed(2)} flares an hour outside every label`;
    lines.push("", `${detector}${natural}`, heading(true));
    for (const score of kinds)
      lines.push(`${line(score.kind, score, "s")}${String(score.leftOutWide).padStart(13)}`);
  }
  if (result.canary.length > 0)
    lines.push("", "canary (bsc)        n   by the end  before the liquidity went");
  for (const { kind, n, byEnd, beforeRemoval } of result.canary) {
    lines.push(
      `  ${kind.padEnd(14)}${String(n).padStart(5)}${byEnd.toFixed(3).padStart(13)}${(beforeRemoval?.toFixed(3) ?? "–").padStart(12)}`,
    );
  }
  return `${lines.join("\n")}\n\n${measuresOf(result)}`;
}

const CANDLE_HEADS = [
  "pump 5 %",
  "10 %",
  "25 %",
  "wash",
  "thin",
  "wide",
  "share ahead 5 / 10 / 25 %",
  "delay 10 % p50 / p90",
  "flaps 10 %",
];

function candleCells({ detector, naturalPerPairDay, scores, ahead }: CandleRow): readonly string[] {
  const { pump10 } = scores;
  return [
    detector,
    naturalPerPairDay.toFixed(2),
    ...Object.values(scores).map(({ fired }) => fired.toFixed(3)),
    [ahead.pump5, ahead.pump10, ahead.pump25].map((share) => share.toFixed(2)).join(" / "),
    `${pump10.delayP50} / ${pump10.delayP90}`,
    pump10.flaps.toFixed(3),
  ];
}

function countsOf(row: CandleRow | undefined): string {
  return Object.entries(row?.scores ?? {})
    .map(([kind, { n, leftOut }]) => `${kind} ${n} (${leftOut})`)
    .join(", ");
}

function canaryMarkdown(canary: readonly CanaryScore[]): readonly string[] {
  const cells = canary.map((one) => [
    one.kind === "pump" ? "honest pump" : one.kind,
    String(one.n),
    one.byEnd.toFixed(3),
    one.beforeRemoval?.toFixed(3) ?? "–",
  ]);
  return [
    ...markdownTable(["canary on BSC", "n", "on by the end", "on before the liquidity went"], cells),
    "",
  ];
}

function simulatedMarkdown(
  { hours, seeds }: Evaluation["simulated"],
  rows: readonly SimulatedRow[],
): readonly string[] {
  const kinds = rows[0]?.kinds.map(({ kind }) => kind) ?? [];
  const cells = rows.map((row) => [
    row.detector,
    Number.isNaN(row.naturalPerHour) ? "–" : row.naturalPerHour.toFixed(2),
    ...kinds.map((kind) => simulatedCell(row.kinds.find((score) => score.kind === kind))),
  ]);
  const counts = rows[0]?.kinds.map(({ n }) => String(n)) ?? [];
  return [
    `The simulated market, ${hours} hours after six of warm-up, seeds ${seeds.join(", ")}; fired (median / 90th percentile of the delay in seconds):`,
    "",
    ...markdownTable(
      ["detector", "flares an hour outside every label", ...kinds],
      [[`n (${rows[0]?.detector ?? ""})`, "", ...counts], ...cells],
    ),
    "",
  ];
}

function simulatedCell(score: KindScore | undefined): string {
  if (!score || score.n === 0) return "–";
  const fired = score.fired.toFixed(3);
  return score.fired === 0 ? fired : `${fired} (${seconds(score.delayP50)} / ${seconds(score.delayP90)})`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(0);
}

function heading(hasWide: boolean): string {
  return `  class                   n  left out  fired   delay p50  p90  flaps   end p50    p90${hasWide ? "  left out (wide)" : ""}`;
}

function line(kind: string, score: Score, unit: Unit): string {
  const delay = (value: number) => {
    if (Number.isNaN(value)) return "–";
    return unit === "s" ? seconds(value) : String(value);
  };
  const cells = [
    String(score.n).padStart(6),
    String(score.leftOut).padStart(8),
    score.fired.toFixed(3).padStart(8),
    delay(score.delayP50).padStart(10),
    delay(score.delayP90).padStart(5),
    score.flaps.toFixed(3).padStart(7),
    delay(score.endP50).padStart(10),
    delay(score.endP90).padStart(7),
  ];
  return `  ${kind.padEnd(20)}${cells.join("")}`;
}
