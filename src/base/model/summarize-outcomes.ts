import type { RecordFigures } from "./history.ts";
import { OUTCOME_MINUTES, type Outcome } from "./outcome.ts";

/**
 * Summarizes outcomes and their controls (OutcomeControl). Awaits `turn` before each long step, so
 * that other work can run.
 */
export async function summarizeOutcomes(
  outcomes: readonly Outcome[],
  turn: () => Promise<unknown>,
): Promise<RecordFigures> {
  const byCanary = outcomes.filter(({ ended_by }) => ended_by === "canary").length;
  const warnings = outcomes.flatMap(({ collapse_warning_s }) => collapse_warning_s ?? []);
  const { q1, median, q3 } = spreadOf(warnings);
  const after: RecordFigures["after"] = [];
  for (const minutes of OUTCOME_MINUTES) {
    await turn();
    const changes = spreadOf(outcomes.flatMap((outcome) => outcome[`change_${minutes}m`] ?? []));
    const control = spreadOf(outcomes.flatMap((outcome) => outcome.control?.[`change_${minutes}m`] ?? []));
    after.push({ minutes, unknown: outcomes.length - changes.n, ...changes, control });
  }
  return {
    flares: outcomes.length,
    ended_by_canary: byCanary,
    canary_share: outcomes.length === 0 ? null : rounded(byCanary / outcomes.length),
    collapsed: warnings.length,
    warned: warnings.filter((seconds) => seconds > 0).length,
    warning_s: { q1, median, q3 },
    after,
  };
}

function spreadOf(values: readonly number[]): RecordFigures["after"][number]["control"] {
  const sorted = Float64Array.from(values).sort();
  const rose = sorted.length - (sorted.findLastIndex((value) => value <= 0) + 1);
  return {
    n: sorted.length,
    rose: sorted.length === 0 ? null : rounded(rose / sorted.length),
    q1: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    q3: quantile(sorted, 0.75),
  };
}

/**
 * Returns the quantile `part` (0 to 1) of sorted values, by linear interpolation between two of
 * them (type 7 of Hyndman and Fan 1996, the default of R and NumPy); `null` without values.
 */
function quantile(sorted: Float64Array, part: number): number | null {
  const index = part * (sorted.length - 1);
  const low = sorted[Math.floor(index)];
  const high = sorted[Math.ceil(index)];
  if (low === undefined || high === undefined) return null;
  return Number((low + (high - low) * (index % 1)).toFixed(4));
}

function rounded(share: number): number {
  return Number(share.toFixed(4));
}
