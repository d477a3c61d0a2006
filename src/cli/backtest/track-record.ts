import { summarize } from "../../history/index.ts";
import { formatPct } from "../../lib/text/format-pct.ts";
import type { Outcome, RecordFigures, Snapshot } from "../../model/index.ts";

/** Collects the final outcomes of finished flares. */
export class TrackRecorder {
  readonly #finals = new Map<string, Outcome>();
  #seen: Snapshot["outcomes"] | undefined;

  note({ outcomes }: Snapshot): void {
    if (outcomes === this.#seen) return;
    this.#seen = outcomes;
    for (const [id, outcome] of Object.entries(outcomes)) if (outcome.final) this.#finals.set(id, outcome);
  }

  record(): Promise<RecordFigures> {
    return summarize([...this.#finals.values()]);
  }
}

export function describeRecord({ flares, ended_by_canary, after }: RecordFigures): string {
  const line = (
    name: string,
    { n, rose, q1, median, q3 }: RecordFigures["after"][number]["control"],
    of = "",
  ) =>
    median === null || q1 === null || q3 === null || rose === null
      ? `${name}: no value`
      : `${name}: median ${formatPct(median, 2)}, middle half ${formatPct(q1, 2)} to ${formatPct(q3, 2)}, ${(rose * 100).toFixed(0)} % rose (n ${n}${of})`;
  return [
    `${flares} flare${flares === 1 ? "" : "s"} with an outcome, ${ended_by_canary} possible rug${ended_by_canary === 1 ? "" : "s"}`,
    ...after.flatMap((row) => [
      line(`after ${row.minutes} min`, row, ` of ${flares}${leftOut(row.unknown, ended_by_canary)}`),
      line("  same tokens at moments of the day before", row.control),
    ]),
  ].join("\n");
}

/** Says that flares without a price are left out, as the record of the dashboard does. */
function leftOut(unknown: number, rugs: number): string {
  return unknown === 0 ? "" : `; ${unknown} left out: no trades${rugs === 0 ? "" : ", perhaps rugs"}`;
}
