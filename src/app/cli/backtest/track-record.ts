import { counted } from "../../../base/lib/text/figures.ts";
import { formatPct, formatShare } from "../../../base/lib/text/percent.ts";
import {
  EMPTY_SNAPSHOT,
  flaresIn,
  type Outcome,
  type RecordFigures,
  type Snapshot,
} from "../../../base/model/index.ts";
import { SUMMARIES, type Summary } from "../../extensions.ts";
import type { Costs } from "./paper-broker.ts";

/** Collects the final outcomes of finished flares. */
export class TrackRecorder {
  readonly #finals = new Map<string, Outcome>();
  #latest = EMPTY_SNAPSHOT;

  note(snapshot: Snapshot): void {
    const { outcomes } = snapshot;
    const isKnown = outcomes === this.#latest.outcomes;
    this.#latest = snapshot;
    if (isKnown) return;
    for (const [id, outcome] of Object.entries(outcomes)) if (outcome.final) this.#finals.set(id, outcome);
  }

  /** Flares that run, or whose outcome is not final yet. */
  get pending(): number {
    const open = Object.values(this.#latest.outcomes).filter(({ final }) => !final);
    return flaresIn(this.#latest, "pro").length + open.length;
  }

  /** Summarizes the outcomes; `undefined` if the program has nothing that does. */
  async record({ fee, slippage }: Costs): Promise<Summary | undefined> {
    const costs = { feePct: 100 * fee, slippagePct: 100 * slippage };
    return SUMMARIES[0]?.summarize([...this.#finals.values()], costs);
  }
}

/** @param pending Flares that the record leaves out, because they have no final outcome. */
export function describeRecord(
  { flares, ended_by_canary, after }: RecordFigures,
  pending = 0,
  worth?: Omit<Summary, "record">,
): string {
  const line = (
    name: string,
    { n, rose, q1, median, q3 }: RecordFigures["after"][number]["control"],
    of = "",
  ) =>
    median === null || q1 === null || q3 === null || rose === null
      ? `${name}: no value`
      : `${name}: median ${formatPct(median, 2)}, middle half ${formatPct(q1, 2)} to ${formatPct(q3, 2)}, ${formatShare(rose)} rose (n ${n}${of})`;
  return [
    ...(worth ? [worth.trades.text] : []),
    `${counted(flares, "flare")} with an outcome, ${counted(ended_by_canary, "possible rug")}${pendingText(pending)}`,
    ...after.flatMap((row) => [
      line(`after ${row.minutes} min`, row, ` of ${flares}${leftOut(row.unknown, ended_by_canary)}`),
      line("  same tokens at moments of the day before", row.control),
    ]),
    ...(worth ? calibrationLines(worth.calibration) : []),
  ].join("\n");
}

/** Compares the shares that the odds said with what happened. */
function calibrationLines({ rug_60m, up_15m, fall_15m }: Summary["calibration"]): readonly string[] {
  const lines = (name: string, rows: typeof rug_60m) =>
    rows.map(
      ({ n, said, observed }) =>
        `odds of ${name}: said ${formatShare(said, 1)}, observed ${formatShare(observed, 1)} (n ${n})`,
    );
  return [
    ...lines("a possible rug within 60 min", rug_60m),
    ...lines("a higher price after 15 min", up_15m),
    ...lines("a fall of 3 % within 15 min", fall_15m),
  ];
}

function pendingText(pending: number): string {
  return pending === 0 ? "" : `; ${pending} left out: outcome not final at the end`;
}

/** Says that flares without a price are left out, as the record of the dashboard does. */
function leftOut(unknown: number, rugs: number): string {
  return unknown === 0 ? "" : `; ${unknown} left out: no trades${rugs === 0 ? "" : ", perhaps rugs"}`;
}
