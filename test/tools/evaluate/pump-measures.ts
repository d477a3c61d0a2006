import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
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
/** Later flares are excluded, because the end of the run would often cut off their end. */
const SEEN_FOR_MS = 60 * MINUTE_MS;

/** Measures of pumps of one size or shape, over all groups. */
export interface PumpMeasure {
  readonly name: string;
  /** Number of pumps whose flare was seen. */
  readonly n: number;
  /** Minutes from the labelled end to the flare's finish. */
  readonly endP50: number;
  readonly endP90: number;
  /** Median share of the move that is still ahead when the flare is seen. */
  readonly ahead: number;
}

type PumpRun = Pick<SimulatedRun, "fromMs" | "toMs" | "flares" | "pumps">;

/**
 * Measures pumps by size and by shape: how long their flares outlast them, and how early they
 * start.
 */
export function measurePumps(runs: readonly PumpRun[]): readonly PumpMeasure[] {
  const seen = runs.flatMap(seenPumps);
  const bySize = SIZES.map(({ name, from, to }) =>
    measureOf(
      name,
      seen.filter(({ label }) => label.size >= from && label.size < to),
    ),
  );
  const shapes = Map.groupBy(seen, ({ label }) => label.shape);
  const names = [...shapes.keys()].toSorted((a, b) => (a < b ? -1 : 1));
  return [...bySize, ...names.map((shape) => measureOf(shape, shapes.get(shape) ?? []))];
}

interface SeenPump {
  readonly label: Label;
  readonly endAfter: number;
  readonly ahead: number;
}

/** Returns the pumps of the scored hours whose flare was seen. */
function seenPumps(run: PumpRun): readonly SeenPump[] {
  const flares = Map.groupBy(run.flares, ({ pair }) => pair);
  return run.pumps.flatMap((course) => {
    const { label } = course;
    if (label.startAtMs < run.fromMs || label.endAtMs + SEEN_FOR_MS > run.toMs) return [];
    const own = flares.get(nameOf(label.group, label.token)) ?? [];
    const flare = flareOf({ startAt: label.startAtMs, endAt: label.endAtMs }, own, MILLISECONDS);
    if (!flare) return [];
    return [{ label, endAfter: (flare.endAt - label.endAtMs) / MINUTE_MS, ahead: shareAhead(course) }];
  });
}

function measureOf(name: string, pumps: readonly SeenPump[]): PumpMeasure {
  const ends = pumps.map(({ endAfter }) => endAfter);
  const ahead = pumps.map((pump) => pump.ahead).filter((share) => !Number.isNaN(share));
  return {
    ...{ name, n: pumps.length, ahead: quantile(ahead, 0.5) },
    ...{ endP50: quantile(ends, 0.5), endP90: quantile(ends, 0.9) },
  };
}
