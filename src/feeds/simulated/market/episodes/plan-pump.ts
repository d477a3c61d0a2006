import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { MarketGroup } from "../../../../base/market/index.ts";
import type { Random } from "../random.ts";
import { labelOf, type PumpShape } from "./label.ts";
import type { Phase, Script } from "./script.ts";

/** The token and time for which a script is planned. */
export interface Stage {
  readonly group: MarketGroup;
  readonly token: string;
  readonly nowMs: number;
  /** The token's mean trades per millisecond at this time of day, without scripts. */
  readonly usualPerMs: number;
}

const MAX_PER_MS = 300 / MINUTE_MS;

/**
 * Draws the trades per millisecond of a crowd that a script attracts. A busier token attracts more,
 * but less than in proportion; the maximum is 300 per minute.
 */
export function rushPerMs(usualPerMs: number, random: Random): number {
  return Math.min(MAX_PER_MS, random.between(15, 35) / MINUTE_MS + usualPerMs * random.between(2.5, 8));
}

export function crowd(
  from: number,
  minutes: number,
  tradesPerMs: number,
  buyShare: number,
  offset: number,
): Phase {
  const untilMs = from + Math.max(1_000, Math.round(minutes * MINUTE_MS));
  return { style: "crowd", untilMs, tradesPerMs, buyShare, offset, removes: 0 };
}

const SHAPES: readonly (readonly [PumpShape, number])[] = [
  ["sharp", 0.4],
  ["pump-and-dump", 0.25],
  ["staircase", 0.2],
  ["slow-burn", 0.15],
];

const SIZES: Readonly<Record<PumpShape, readonly [number, number]>> = {
  sharp: [0.06, 0.6],
  "pump-and-dump": [0.12, 1],
  staircase: [0.1, 0.6],
  "slow-burn": [0.1, 0.4],
  launch: [0.2, 1.5],
};

/** Plans an honest pump: many buy, some sell, the price rises and partly falls back. */
export function planPump(stage: Stage, random: Random, shape: PumpShape = random.weighted(SHAPES)): Script {
  const size = random.logBetween(...SIZES[shape]);
  const peak = Math.log1p(size);
  const rush = rushPerMs(stage.usualPerMs, random);
  const rise = riseOf(shape, stage.nowMs, peak, rush, random);
  const peakAtMs = rise.at(-1)?.untilMs ?? stage.nowMs;
  const remaining = peak * (shape === "pump-and-dump" ? random.between(0, 0.25) : random.between(0.3, 0.85));
  const phases = [...rise, ...fallOf(shape, peakAtMs, peak, remaining, rush, random)];
  const endAtMs = phases.at(-1)?.untilMs ?? peakAtMs;
  return {
    label: labelOf(stage, "pump", shape, endAtMs, size, { peakAtMs }),
    phases,
    insiders: 0,
  };
}

function riseOf(
  shape: PumpShape,
  nowMs: number,
  peak: number,
  rush: number,
  random: Random,
): readonly Phase[] {
  switch (shape) {
    case "sharp":
      return [crowd(nowMs, random.between(1, 4), rush, 0.85, peak)];
    case "pump-and-dump":
      return [crowd(nowMs, random.between(2, 8), rush, 0.88, peak)];
    case "slow-burn":
      return [crowd(nowMs, random.between(25, 50), rush * 0.6, 0.75, peak)];
    case "launch":
      return [crowd(nowMs, random.between(4, 20), rush * 0.8, 0.8, peak)];
    case "staircase": {
      const steps = 3 + random.below(3);
      const phases: Phase[] = [];
      let at = nowMs;
      for (let step = 1; step <= steps; step += 1) {
        const level = (peak * step) / steps;
        phases.push(crowd(at, random.between(1, 3), rush, 0.85, level));
        at = phases.at(-1)?.untilMs ?? at;
        if (step === steps) break;
        phases.push(crowd(at, random.between(2, 7), rush * 0.35, 0.55, level));
        at = phases.at(-1)?.untilMs ?? at;
      }
      return phases;
    }
  }
}

function fallOf(
  shape: PumpShape,
  peakAtMs: number,
  peak: number,
  remaining: number,
  rush: number,
  random: Random,
): readonly Phase[] {
  if (shape === "pump-and-dump") {
    const dump = crowd(peakAtMs, random.between(1.5, 5), rush, 0.15, remaining);
    return [dump, crowd(dump.untilMs, random.between(5, 15), rush * 0.15, 0.5, remaining)];
  }
  const hold = crowd(peakAtMs, random.between(1, 5), rush * 0.6, 0.52, peak * 0.97);
  const fade = crowd(hold.untilMs, random.between(8, 25), rush * 0.25, 0.42, remaining);
  return [hold, fade, crowd(fade.untilMs, random.between(5, 10), rush * 0.08, 0.5, remaining)];
}
