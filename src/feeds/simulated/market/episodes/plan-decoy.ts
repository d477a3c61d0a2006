import { MINUTE_MS } from "../../../../base/lib/time/time.ts";
import type { Random } from "../random.ts";
import { labelOf } from "./label.ts";
import { crowd, rushPerMs, type Stage } from "./plan-pump.ts";
import type { Phase, Script } from "./script.ts";

/**
 * Plans a wash: a few wallets buy and sell in turn for 10 to 30 minutes; the price hardly moves.
 */
export function planWash(stage: Stage, random: Random): Script {
  const untilMs = stage.nowMs + Math.round(random.between(10, 30) * MINUTE_MS);
  const size = random.between(8, 25);
  const tradesPerMs = Math.max(
    random.between(4, 12) / MINUTE_MS,
    Math.min(stage.usualPerMs * size, 240 / MINUTE_MS),
  );
  const insiders = random.chance(0.6) ? 2 : 3 + random.below(3);
  const multiple = stage.usualPerMs > 0 ? tradesPerMs / stage.usualPerMs : size;
  return {
    label: labelOf(stage, "wash", insiders === 2 ? "pair" : "ring", untilMs, multiple),
    phases: [{ style: "wash", untilMs, tradesPerMs, buyShare: 0.5, offset: 0, removes: 0 }],
    insiders,
  };
}

/** Plans a thin tick: a wallet raises the price by 5 to 15 % and sells within three minutes. */
export function planThin(stage: Stage, random: Random): Script {
  const size = random.between(0.05, 0.15);
  const backAtMs = stage.nowMs + Math.round(random.between(1, 3) * MINUTE_MS);
  const tick = (untilMs: number, offset: number): Phase => ({
    style: "tick",
    untilMs,
    tradesPerMs: 0,
    buyShare: 0.5,
    offset,
    removes: 0,
  });
  return {
    label: labelOf(stage, "thin", "tick", backAtMs + 5_000, size, { peakAtMs: stage.nowMs }),
    phases: [tick(backAtMs, Math.log1p(size)), tick(backAtMs + 5_000, 0)],
    insiders: 1,
  };
}

/** Plans a rug pull: the makers attract buyers, remove the liquidity, and the holders sell. */
export function planRug(stage: Stage, random: Random): Script {
  const shape = random.weighted([
    ["hype", 0.6],
    ["quiet", 0.2],
    ["drain", 0.2],
  ] as const);
  const rush = rushPerMs(stage.usualPerMs, random);
  const rise = shape === "quiet" ? random.between(0, 0.15) : random.logBetween(0.2, 2);
  const top = Math.log1p(rise);
  const pace = shape === "quiet" ? 0.15 : 0.8;
  const lure = crowd(stage.nowMs, random.between(6, 35), rush * pace, 0.75, top);
  const phases: Phase[] = [lure];
  let left = 1;
  let at = lure.untilMs;
  const portions = shape === "drain" ? 4 : 1;
  for (let portion = 1; portion <= portions; portion += 1) {
    const removes = shape === "drain" ? 0.5 : random.between(0.9, 0.995);
    left *= 1 - removes;
    const level = top - (random.between(2.5, 3.5) * portion) / portions;
    const minutes = shape === "drain" ? random.between(0.4, 1.2) : random.between(1, 4);
    phases.push({ ...crowd(at, minutes, Math.max(rush * 0.5, 8 / MINUTE_MS), 0.06, level), removes });
    at = phases.at(-1)?.untilMs ?? at;
  }
  const moments = { removedAtMs: lure.untilMs, ...(rise > 0.15 ? { peakAtMs: lure.untilMs } : {}) };
  return {
    label: labelOf(stage, "rug", shape, at, 1 - left, moments),
    phases,
    insiders: 0,
  };
}

/** Plans a honeypot: nobody can sell, and the price rises until the makers take the liquidity. */
export function planHoneypot(stage: Stage, random: Random): Script {
  const rush = rushPerMs(stage.usualPerMs, random) * 0.7;
  const size = random.logBetween(0.5, 4);
  const top = Math.log1p(size);
  const lure = crowd(stage.nowMs, random.between(8, 30), rush, 1, top * 0.8);
  const wait = crowd(lure.untilMs, random.between(5, 30), rush * 0.25, 1, top);
  const removes = random.between(0.95, 0.999);
  const pull: Phase = { ...crowd(wait.untilMs, 0.05, 0, 1, top), removes };
  return {
    label: labelOf(stage, "honeypot", "hype", pull.untilMs, removes, {
      peakAtMs: wait.untilMs,
      removedAtMs: wait.untilMs,
    }),
    phases: [lure, wait, pull],
    insiders: 0,
  };
}
