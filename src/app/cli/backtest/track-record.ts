import { setImmediate as turn } from "node:timers/promises";
import { counted } from "../../../base/lib/text/figures.ts";
import { formatPct, formatShare } from "../../../base/lib/text/percent.ts";
import {
  EMPTY_SNAPSHOT,
  flaresIn,
  type Outcome,
  type RecordFigures,
  type Snapshot,
} from "../../../base/model/index.ts";
import { summarizeOutcomes } from "../../../base/model/summarize-outcomes.ts";

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

  record(): Promise<RecordFigures> {
    return summarizeOutcomes([...this.#finals.values()], turn);
  }
}

/** @param pending Flares that the record leaves out, because they have no final outcome. */
export function describeRecord({ flares, ended_by_canary, after }: RecordFigures, pending = 0): string {
  const line = (
    name: string,
    { n, rose, q1, median, q3 }: RecordFigures["after"][number]["control"],
    of = "",
  ) =>
    median === null || q1 === null || q3 === null || rose === null
      ? `${name}: no value`
      : `${name}: median ${formatPct(median, 2)}, middle half ${formatPct(q1, 2)} to ${formatPct(q3, 2)}, ${formatShare(rose)} rose (n ${n}${of})`;
  return [
    `${counted(flares, "flare")} with an outcome, ${counted(ended_by_canary, "possible rug")}${pendingText(pending)}`,
    ...after.flatMap((row) => [
      line(`after ${row.minutes} min`, row, ` of ${flares}${leftOut(row.unknown, ended_by_canary)}`),
      line("  same tokens at moments of the day before", row.control),
    ]),
  ].join("\n");
}

function pendingText(pending: number): string {
  return pending === 0 ? "" : `; ${pending} left out: outcome not final at the end`;
}

/** Says that flares without a price are left out, as the record of the dashboard does. */
function leftOut(unknown: number, rugs: number): string {
  return unknown === 0 ? "" : `; ${unknown} left out: no trades${rugs === 0 ? "" : ", perhaps rugs"}`;
}
