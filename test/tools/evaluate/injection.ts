import type { Random } from "./random.ts";
import type { Span } from "./score.ts";
import { copySeries, type Market, type Series } from "./series.ts";

/**
 * The injected classes: honest pumps of three sizes, and three decoys on which no detector should
 * fire.
 */
export const CLASSES = ["pump5", "pump10", "pump25", "wash", "thin", "wide"] as const;
export type InjectedClass = (typeof CLASSES)[number];

/** One injected episode: the minutes [startAt, endAt) of one pair, on the market's grid. */
export interface Episode extends Span {
  readonly class: InjectedClass;
}

/** A market with injected episodes of one class. */
export interface InjectedMarket {
  readonly market: Market;
  readonly episodes: readonly Episode[];
}

const PUMP_SIZE: Partial<Record<InjectedClass, number>> = { pump5: 0.05, pump10: 0.1, pump25: 0.25 };
/** One episode per pair and slot, so that the baseline has forgotten the previous episode. */
const SLOT_MINUTES = 480;
const BASE_MINUTES = 360;

/**
 * Returns the market with one episode of `kind` per pair and 8 hours, at a random minute of the
 * slot, within [from, to) of the grid. `wide` moves all pairs at once, once per slot.
 */
export function inject(
  market: Market,
  kind: InjectedClass,
  from: number,
  to: number,
  random: Random,
): InjectedMarket {
  const series = market.series.map(copySeries);
  const episodes: Episode[] = [];
  for (let slot = from; slot + SLOT_MINUTES <= to; slot += SLOT_MINUTES) {
    const common = slot + random.whole(60, SLOT_MINUTES - 120);
    for (const [index, one] of series.entries()) {
      const startAt = kind === "wide" ? common : slot + random.whole(60, SLOT_MINUTES - 120);
      if (Number.isNaN(one.close[startAt - BASE_MINUTES] ?? Number.NaN)) continue;
      const base = usualVolume(market.series[index] ?? one, startAt);
      const minutes = disturb(one, kind, { startAt, base }, random);
      episodes.push({ class: kind, pair: one.pair, startAt, endAt: startAt + minutes });
    }
  }
  return { market: { ...market, series }, episodes };
}

/**
 * When an episode begins, and the recording's usual volume before it, which earlier episodes do not
 * raise.
 */
interface Slot {
  readonly startAt: number;
  readonly base: number;
}

function disturb(series: Series, kind: InjectedClass, place: Slot, random: Random): number {
  const { startAt, base } = place;
  const size = PUMP_SIZE[kind];
  if (size !== undefined) return pump(series, place, size, random);
  if (kind === "wash") {
    for (let at = startAt; at < startAt + 20; at += 1) addVolume(series, at, base * 20);
    return 20;
  }
  if (kind === "thin") {
    for (let at = startAt; at < startAt + 2; at += 1) {
      scalePrice(series, at, 1.1, at === startAt ? 1 : 1.1);
      if (at < series.volume.length) series.volume[at] = base * 0.2;
    }
    return 2;
  }
  const rise = 10;
  for (let at = 0; startAt + at < series.close.length; at += 1) {
    const level = (minute: number) => 1 + 0.1 * Math.min(1, minute / rise);
    scalePrice(series, startAt + at, level(at + 1), level(at));
  }
  return rise;
}

function pump(series: Series, { startAt, base }: Slot, size: number, random: Random): number {
  const rise = random.whole(3, 10);
  const decay = random.whole(15, 40);
  const volumeFactor = random.between(6, 25);
  const level = (minute: number) =>
    1 + size * (minute <= rise ? minute / rise : Math.max(0, 1 - (minute - rise) / decay));
  for (let at = 0; at < rise + decay; at += 1) {
    scalePrice(series, startAt + at, level(at + 1), level(at));
    const fading = at < rise ? 1 : Math.max(0, 1 - (at - rise) / decay);
    addVolume(series, startAt + at, base * (1 + (volumeFactor - 1) * fading));
  }
  return rise + decay;
}

/**
 * Multiplies the minute's prices by `level`. The minute opens at the level `before`, at which the
 * last one closed.
 */
function scalePrice(series: Series, at: number, level: number, before: number): void {
  if (at >= series.close.length) return;
  const open = (series.open[at] ?? 0) * before;
  const close = (series.close[at] ?? 0) * level;
  series.open[at] = open;
  series.close[at] = close;
  series.high[at] = Math.max(open, close, (series.high[at] ?? 0) * Math.min(level, before));
  series.low[at] = Math.min(open, close, (series.low[at] ?? 0) * Math.max(level, before));
}

/** Raises the minute's volume to `volume`, unless it is higher. */
function addVolume(series: Series, at: number, volume: number): void {
  if (at < series.volume.length) series.volume[at] = Math.max(series.volume[at] ?? 0, volume);
}

/** Returns the mean volume per minute over the 6 hours before. Injected factors multiply it. */
function usualVolume(series: Series, at: number): number {
  let sum = 0;
  for (let past = at - BASE_MINUTES; past < at; past += 1) sum += series.volume[past] ?? 0;
  return sum / BASE_MINUTES;
}
