import { type Goal, goalsOf, isReached, type Measured } from "./goals.ts";
import { markdownTable } from "./markdown-table.ts";
import { outcomeTable } from "./outcomes.ts";
import type { PumpMeasure } from "./pump-measures.ts";

/**
 * Returns tables in Markdown: the measures that have a goal, and those of pumps by size and shape.
 */
export function measuresMarkdown(measured: Measured): string {
  const { candleRows, simulated } = measured;
  const own = candleRows?.[0];
  return [
    ...(simulated
      ? pumpTable(simulated.pumps, "Pumps of the simulated market, all groups; ends in minutes:")
      : []),
    ...(own
      ? pumpTable(
          (["pump5", "pump10", "pump25"] as const).map((kind) => ({
            name: `${kind.slice(4)} %`,
            n: own.scores[kind].n,
            ahead: own.ahead[kind],
            endP50: own.scores[kind].endP50,
            endP90: own.scores[kind].endP90,
          })),
          "Pumps injected into recorded minutes; ends in minutes:",
        )
      : []),
    ...outcomeTable(simulated?.outcomes ?? [], "After flares on BSC of the simulated market; in percent:"),
    ...outcomeTable(own?.outcomes ?? [], "After flares of the recorded minutes; in percent:"),
    ...markdownTable(["measure", "figure", "goal", ""], goalsOf(measured).map(goalCells)),
    "",
  ].join("\n");
}

function pumpTable(pumps: readonly PumpMeasure[], title: string): readonly string[] {
  const cells = pumps.map(({ name, n, endP50, endP90, ahead }) => [
    name,
    String(n),
    `${endP50.toFixed(1)} / ${endP90.toFixed(1)}`,
    ahead.toFixed(2),
  ]);
  return [
    title,
    "",
    ...markdownTable(["class", "n", "from end to finish p50 / p90", "share ahead"], cells),
    "",
  ];
}

function goalCells(goal: Goal): readonly string[] {
  const { measure, figure, bound, isMost } = goal;
  const text = Number.isNaN(figure) ? "–" : String(Number(figure.toFixed(3)));
  return [measure, text, `${isMost ? "≤" : "≥"} ${bound}`, isReached(goal) ? "reached" : "missed"];
}
