import { formatPct } from "../../lib/text/format-pct.ts";
import { type Flare, keyOf, OUTCOME_MINUTES, type Outcome, type Snapshot } from "../../model/index.ts";
import { keyOfToken } from "./paper-broker.ts";
import type { PriceHistory } from "./price-history.ts";

/** What prices did after the flares of a recording, in percent, next to other moments. */
export interface TrackRecord {
  /** Flares with a final outcome. */
  readonly flares: number;
  /** Flares that their canary ended. */
  readonly ended_by_canary: number;
  readonly after: readonly (Spread & { readonly minutes: number; readonly control: Spread })[];
}

interface Spread {
  readonly n: number;
  /** Share above 0; `null` without a value, like the others. */
  readonly rose: number | null;
  readonly q1: number | null;
  readonly median: number | null;
  readonly q3: number | null;
}

/** Collects the final outcomes of finished flares. */
export class TrackRecorder {
  readonly #finished = new Map<string, { readonly outcome: Outcome; readonly flare: Flare }>();
  #seen: Snapshot["outcomes"] | undefined;

  note({ flares, outcomes }: Snapshot): void {
    if (outcomes === this.#seen) return;
    this.#seen = outcomes;
    for (const flare of flares.finished_trending) {
      const outcome = outcomes[keyOf(flare)];
      if (outcome?.final) this.#finished.set(keyOf(flare), { outcome, flare });
    }
  }

  record(history: PriceHistory): TrackRecord {
    const finished = [...this.#finished.values()];
    return {
      flares: finished.length,
      ended_by_canary: finished.filter(({ outcome }) => outcome.ended_by === "canary").length,
      after: OUTCOME_MINUTES.map((minutes) => ({
        minutes,
        ...spreadOf(finished.flatMap(({ outcome }) => outcome[`change_${minutes}m`] ?? [])),
        control: spreadOf(
          finished.flatMap(({ flare }) =>
            history
              .changes(keyOfToken({ group: "bsc", token: flare.token.address }), minutes)
              .map(([from, to]) => (to / from - 1) * 100),
          ),
        ),
      })),
    };
  }
}

export function describeRecord({ flares, ended_by_canary, after }: TrackRecord): string {
  const line = (name: string, { n, rose, q1, median, q3 }: Spread) =>
    median === null || q1 === null || q3 === null || rose === null
      ? `${name}: no value`
      : `${name}: median ${formatPct(median, 2)}, middle half ${formatPct(q1, 2)} to ${formatPct(q3, 2)}, ${(rose * 100).toFixed(0)} % rose (n ${n})`;
  return [
    `${flares} flare${flares === 1 ? "" : "s"} with an outcome, ${ended_by_canary} ended by the canary`,
    ...after.flatMap((row) => [
      line(`after ${row.minutes} min`, row),
      line("  same tokens at other moments", row.control),
    ]),
  ].join("\n");
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => {
    const value = sorted[Math.round(part * (sorted.length - 1))];
    return value === undefined ? null : Number(value.toFixed(4));
  };
  const rose = sorted.filter((value) => value > 0).length;
  return {
    n: sorted.length,
    rose: sorted.length === 0 ? null : Number((rose / sorted.length).toFixed(4)),
    q1: at(0.25),
    median: at(0.5),
    q3: at(0.75),
  };
}
