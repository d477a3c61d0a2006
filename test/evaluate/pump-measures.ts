import { nameOf } from "./last-trades.ts";
import { shareAhead } from "./pump-courses.ts";
import { flareOf, MILLISECONDS, quantile } from "./score.ts";
import { MINUTE_MS } from "./series.ts";
import type { SimulatedRun } from "./simulated-run.ts";

const SIZES = [
  { name: "under 10 %", from: 0, to: 0.1 },
  { name: "10 to 25 %", from: 0.1, to: 0.25 },
  { name: "25 to 60 %", from: 0.25, to: 0.6 },
  { name: "over 60 %", from: 0.6, to: Number.POSITIVE_INFINITY },
];
/** Flares of pumps that end later are cut off by the end of the run too often. */
const SEEN_FOR_MS = 60 * MINUTE_MS;

/** What pumps of one size came to, over all groups. */
export interface PumpMeasure {
  readonly size: string;
  /** Pumps whose flare was seen. */
  readonly n: number;
  /** Minutes from the labelled end to the flare's finish. */
  readonly endP50: number;
  readonly endP90: number;
  /** Median share of the move that is still ahead when the flare is seen. */
  readonly ahead: number;
}

/** Measures the pumps by size: how long their flares outlive them, and how early they are seen. */
export function measurePumps(runs: readonly SimulatedRun[]): readonly PumpMeasure[] {
  return SIZES.map(({ name, from, to }) => {
    const ends: number[] = [];
    const ahead: number[] = [];
    for (const run of runs) {
      const flares = Map.groupBy(run.flares, ({ pair }) => pair);
      for (const course of run.pumps) {
        const { label } = course;
        if (!(label.size >= from && label.size < to) || label.startAtMs < run.fromMs) continue;
        if (label.endAtMs + SEEN_FOR_MS > run.toMs) continue;
        const own = flares.get(nameOf(label.group, label.token)) ?? [];
        const span = { startAt: label.startAtMs, endAt: label.endAtMs };
        const flare = flareOf(span, own, MILLISECONDS);
        if (!flare) continue;
        ends.push((flare.endAt - label.endAtMs) / MINUTE_MS);
        const share = shareAhead(course);
        if (!Number.isNaN(share)) ahead.push(share);
      }
    }
    return {
      size: name,
      n: ends.length,
      endP50: quantile(ends, 0.5),
      endP90: quantile(ends, 0.9),
      ahead: quantile(ahead, 0.5),
    };
  });
}
