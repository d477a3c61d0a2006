import type { CandleRow } from "./candle-evaluation.ts";
import type { SimulatedResult } from "./simulated-evaluation.ts";
import type { WideMove } from "./wide-moves.ts";

/** A measured figure and its goal. */
export interface Goal {
  readonly measure: string;
  readonly figure: number;
  /** The bound. A figure equal to it reaches the goal. */
  readonly bound: number;
  readonly isMost: boolean;
}

/** The measurements. A part that was not measured is absent. */
export interface Measured {
  readonly candleRows?: readonly CandleRow[];
  readonly simulated?: SimulatedResult;
  readonly wideMoves?: readonly WideMove[];
}

/**
 * Returns the goals for all measurements. Shares are of 1, delays are in seconds on the simulated
 * market, and ends are in minutes.
 */
export function goalsOf({ candleRows, simulated, wideMoves }: Measured): readonly Goal[] {
  return [
    ...(candleRows?.[0] ? candleGoals(candleRows[0]) : []),
    ...(simulated ? simulatedGoals(simulated) : []),
    ...(wideMoves ?? []).map(({ idleShare, busy, flared }) =>
      atMost(`wide move of 12 %, ${idleShare * 100} % idle: busy tokens flaring`, flared / busy, 0.1),
    ),
  ];
}

/** Returns whether the figure is within its bound; false if nothing could be measured. */
export function isReached({ figure, bound, isMost }: Goal): boolean {
  return isMost ? figure <= bound : figure >= bound;
}

function candleGoals({ scores }: CandleRow): readonly Goal[] {
  const { pump5, pump10, wash, thin, wide } = scores;
  return [
    atLeast("recorded minutes: recall of 5 %", pump5.fired, 0.9),
    atLeast("recorded minutes: recall of 10 %", pump10.fired, 0.98),
    atMost("recorded minutes: wash fired", wash.fired, 0.05),
    atMost("recorded minutes: thin fired", thin.fired, 0.08),
    atMost("recorded minutes: wide fired", wide.fired, 0.03),
    atMost("recorded minutes: median minutes from end to finish, 5 %", pump5.endP50, 10),
    atMost("recorded minutes: median minutes from end to finish, 10 %", pump10.endP50, 10),
  ];
}

function simulatedGoals({ rows, canary, liveness }: SimulatedResult): readonly Goal[] {
  const kinds = rows[0]?.kinds ?? [];
  const pump = kinds.find(({ kind }) => kind === "pump");
  // Launches are compared with each other, so few of them flare.
  const launch = kinds.find(({ kind }) => kind === "pump launch") ?? { n: 0, fired: 0 };
  const established = pump && (pump.n * pump.fired - launch.n * launch.fired) / (pump.n - launch.n);
  const canaryGoals = canary.map(({ kind, byEnd }) => {
    const isDanger = kind === "rug" || kind === "honeypot";
    const name = `canary on BSC: ${kind === "pump" ? "honest pump" : kind}`;
    return isDanger ? atLeast(name, byEnd, 0.95) : atMost(name, byEnd, 0.02);
  });
  const { proFlares, deadProFlares, silentFlares, charted, silentCharted, first, silentFirst } = liveness;
  return [
    atLeast("pumps of established tokens on BSC: recall", established ?? Number.NaN, 0.97),
    atMost("pumps on BSC: median delay in seconds", (pump?.delayP50 ?? Number.NaN) / 1_000, 60),
    atMost("pro flares with at most 2 trades in 5 minutes", deadProFlares / proFlares, 0.05),
    atMost("flares without a trade for 15 minutes", silentFlares / liveness.flares, 0),
    atMost("pro flares whose price is over 5 % off", liveness.mispricedFlares / proFlares, 0.01),
    atMost("charted minutes without a trade for 10 minutes", silentCharted / charted, 0.01),
    atMost("minutes of rank 1 without a trade for 10 minutes", silentFirst / first, 0),
    atMost("entries of newest that are not new", liveness.oldNewest / liveness.newest, 0),
    ...canaryGoals,
  ];
}

function atMost(measure: string, figure: number, bound: number): Goal {
  return { measure, figure, bound, isMost: true };
}

function atLeast(measure: string, figure: number, bound: number): Goal {
  return { measure, figure, bound, isMost: false };
}
