import type { Outcome, TrackRecord } from "../../base/model/index.ts";

type Calibration = NonNullable<TrackRecord["calibration"]>;

/** Bounds of the shares that the odds said. */
const BOUNDS = [0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01];

/** Compares what the odds said with what happened, over final outcomes. */
export function calibrationOf(outcomes: readonly Outcome[]): Calibration {
  return {
    rug_60m: rowsOf(outcomes.map(({ odds, held }) => [held && odds?.rug_60m?.share, held?.rugged_s != null])),
    up_15m: rowsOf(
      outcomes.map(({ odds, held }) => [
        held?.change_15m == null ? undefined : odds?.up_15m?.share,
        (held?.change_15m ?? 0) > 0,
      ]),
    ),
    fall_15m: rowsOf(
      outcomes.map(({ odds, held }) => [
        held?.lowest_15m == null ? undefined : odds?.fall_15m?.share,
        (held?.lowest_15m ?? 0) <= -3,
      ]),
    ),
  };
}

function rowsOf(told: readonly (readonly [share: number | undefined, isTrue: boolean])[]) {
  return BOUNDS.slice(1).flatMap((to, index) => {
    const from = BOUNDS[index] ?? 0;
    const own = told.flatMap(([share, isTrue]) =>
      share !== undefined && share >= from && share < to ? [{ share, isTrue }] : [],
    );
    if (own.length === 0) return [];
    const mean = (of: (one: (typeof own)[number]) => number) =>
      Number((own.reduce((sum, one) => sum + of(one), 0) / own.length).toFixed(4));
    const [said, observed] = [mean(({ share }) => share), mean(({ isTrue }) => Number(isTrue))];
    return [{ from, to: Math.min(1, to), n: own.length, said, observed }];
  });
}
