import { HOUR_MS } from "../../../../base/lib/time/time.ts";

/** How much of the past the strip shows. */
export const WINDOW_MS = 6 * HOUR_MS;

/** The time that the strip shows, in milliseconds since 1970 UTC. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The strip advances in steps of less than two pixels. */
const STEP_MS = WINDOW_MS / 720;

/** Returns the window that ends now, rounded up to a step. */
export function spanUntil(nowMs: number): TimeSpan {
  const toMs = Math.ceil(nowMs / STEP_MS) * STEP_MS;
  return { fromMs: toMs - WINDOW_MS, toMs };
}

interface Interval {
  readonly flare: { readonly id: string };
  readonly startMs: number;
  readonly endMs: number | undefined;
}

/**
 * Shorter bars occupy this share of the span in their lane, because they are drawn with a minimum
 * width.
 */
const MIN_SHARE = 1 / 150;

/** Returns the bars that the span shows, in the given order. */
export function visibleBars<B extends Interval>(
  bars: readonly B[],
  { fromMs, toMs }: TimeSpan,
): readonly B[] {
  return bars.filter(({ startMs, endMs = toMs }) => endMs > fromMs && startMs < toMs);
}

/**
 * Assigns each bar a lane, and returns the lanes by flare id, from 0. A bar keeps its lane from
 * `before` even if another bar there overlaps it, so that nothing jumps while time passes. Others
 * take the first lane that is free for their time, oldest start first.
 */
export function assignLanes(
  bars: readonly Interval[],
  { fromMs, toMs }: TimeSpan,
  before: ReadonlyMap<string, number> = new Map(),
): ReadonlyMap<string, number> {
  const minMs = (toMs - fromMs) * MIN_SHARE;
  const lanes: (readonly [number, number])[][] = [];
  const assigned = new Map<string, number>();
  const put = ({ flare, startMs, endMs = toMs }: Interval, known?: number): void => {
    const from = Math.max(startMs, fromMs);
    const to = Math.max(endMs, from + minMs);
    const isFree = (taken: (typeof lanes)[number] = []) => taken.every(([a, b]) => b <= from || a >= to);
    const free = lanes.findIndex(isFree);
    const lane = known ?? (free < 0 ? lanes.length : free);
    while (lanes.length <= lane) lanes.push([]);
    lanes[lane]?.push([from, to]);
    assigned.set(flare.id, lane);
  };
  const oldestFirst = bars.toSorted((a, b) => a.startMs - b.startMs);
  for (const bar of oldestFirst) {
    const known = before.get(bar.flare.id);
    if (known !== undefined) put(bar, known);
  }
  for (const bar of oldestFirst) if (!assigned.has(bar.flare.id)) put(bar);
  return assigned;
}

/** Numbers of lanes to draw: few, so that one more lane rarely moves the others. */
const LANE_COUNTS = [12, 14, 16, 20, 28, 40, 56, 80] as const;
/** Above the largest of these, the number is a multiple of this. */
const LANE_STEP = 40;

/** Returns the number of lanes to draw, at least as many as are assigned. */
export function laneCount(assigned: ReadonlyMap<string, number>): number {
  const used = assigned.size === 0 ? 0 : Math.max(...assigned.values()) + 1;
  return LANE_COUNTS.find((lanes) => lanes >= used) ?? Math.ceil(used / LANE_STEP) * LANE_STEP;
}

/** A bar's position as shares of the timeline's width and height. */
export interface Box {
  readonly left: number;
  readonly width: number;
  readonly top: number;
}

export function boxOf(
  { startMs, endMs }: Interval,
  lane: number,
  { fromMs, toMs }: TimeSpan,
  lanes: number,
): Box {
  const share = (atMs: number) => Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs)));
  const left = share(startMs);
  return { left, width: share(endMs ?? toMs) - left, top: lane / lanes };
}

/**
 * If the first flare starts within this share from the window's start, the whole window is shown.
 */
const MIN_UNKNOWN_SHARE = 0.04;
/** The shortest part of a window: with less, bars would move fast. */
const MIN_SHOWN_MS = HOUR_MS;

/**
 * Returns the part of the window since the first known flare or `atMs`, whichever is earlier. A new
 * server knows nothing about the time before. The part is at least an hour. If it is almost the
 * whole window, or there are no bars, returns the window.
 */
export function knownSpan(
  bars: readonly Interval[],
  { fromMs, toMs }: TimeSpan,
  atMs = Number.POSITIVE_INFINITY,
): TimeSpan {
  const firstMs = Math.min(atMs, ...bars.map(({ startMs }) => startMs));
  const isUsual = bars.length === 0 || (firstMs - fromMs) / (toMs - fromMs) < MIN_UNKNOWN_SHARE;
  return { fromMs: isUsual ? fromMs : Math.min(firstMs, toMs - MIN_SHOWN_MS), toMs };
}

/** Returns the whole hours within the span. */
export function hoursWithin({ fromMs, toMs }: TimeSpan): readonly number[] {
  const hours: number[] = [];
  for (let atMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS; atMs <= toMs; atMs += HOUR_MS) hours.push(atMs);
  return hours;
}
