import { HOUR_MS } from "../../../base/lib/time/time.ts";
import type { Flare } from "../../../base/model/index.ts";
import { END_TEXTS } from "../../../base/model/text/end-texts.ts";
import type { View } from "../../sdk/index.ts";

const MAX_BARS = 300;
/** Data further from the clock comes from a recorded market, whose own time counts. */
const MAX_AGE_MS = 24 * HOUR_MS;
/** Shorter bars take this share of the width, so that they can be seen. */
const MIN_SHARE = 1 / 150;

/** A flare on the strip, as shares of its width. */
export interface Bar {
  readonly flare: Flare;
  readonly fate: "flaring" | "faded" | "canary";
  /** `flaring now`, or why it ended. */
  readonly text: string;
  readonly left: number;
  readonly width: number;
  /** Row in which no other bar overlaps it. */
  readonly lane: number;
}

/** Returns the flares of the last hours, oldest first, each in the first free lane. */
export function barsOf(view: View | undefined, hours: number, clockMs: number): readonly Bar[] {
  const { pro = [], free = [], finished_trending: ended = [] } = view?.flares ?? {};
  const byId = new Map([...ended, ...free, ...pro].map((flare) => [flare.id, flare]));
  const times = [...byId.values()].flatMap(({ started_trending_at: start, finished_trending_at: end }) => [
    Date.parse(start),
    Date.parse(end ?? start),
  ]);
  const newestMs = times.reduce((a, b) => Math.max(a, b || 0), 0);
  const nowMs = Math.abs(clockMs - newestMs) < MAX_AGE_MS ? clockMs : newestMs;
  const firstMs = Math.min(
    ...[...byId.values()].map((flare) => Date.parse(flare.started_trending_at) || nowMs),
  );
  // The time before the first known flare would be empty. Bars in less than an hour would move
  // fast.
  const fromMs = Math.max(nowMs - hours * HOUR_MS, Math.min(firstMs, nowMs - HOUR_MS));
  const shareOf = (atMs: number) => Math.min(1, Math.max(0, (atMs - fromMs) / (nowMs - fromMs)));
  const lanes: number[] = [];
  return [...byId.values()]
    .map((flare) => ({ flare, startMs: Date.parse(flare.started_trending_at) }))
    .toSorted((a, b) => a.startMs - b.startMs)
    .slice(-MAX_BARS)
    .flatMap(({ flare, startMs }): readonly Bar[] => {
      const end = flare.finished_trending_at;
      const endMs = end === null ? nowMs : Date.parse(end);
      if (!(endMs > fromMs)) return [];
      const left = Math.min(shareOf(startMs), 1 - MIN_SHARE);
      const width = Math.max(shareOf(endMs) - left, MIN_SHARE);
      const free = lanes.findIndex((until) => until <= left);
      const lane = free < 0 ? lanes.length : free;
      lanes[lane] = left + width;
      const cause = view?.explanations[flare.id]?.finish_cause;
      return [
        {
          flare,
          fate: end === null ? "flaring" : cause === "canary" ? "canary" : "faded",
          text: end === null ? "flaring now" : cause ? END_TEXTS[cause] : "ended",
          left,
          width,
          lane,
        },
      ];
    });
}

/** Describes the bars: `3 flares in 6 hours: 1 flaring now, 2 activity faded`. */
export function labelOf(bars: readonly Bar[], hours: number): string {
  const counts = ["flaring now", ...Object.values(END_TEXTS), "ended"].flatMap((text) => {
    const count = bars.filter((bar) => bar.text === text).length;
    return count > 0 ? [`${count} ${text}`] : [];
  });
  const total = `${bars.length} flare${bars.length === 1 ? "" : "s"} in ${hours} hour${hours === 1 ? "" : "s"}`;
  return counts.length === 0 ? total : `${total}: ${counts.join(", ")}`;
}
