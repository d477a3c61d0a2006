import { HOUR_MS } from "../../../../base/lib/time/time.ts";
import type { Random } from "../random.ts";
import { planThin, planWash } from "./plan-decoy.ts";
import { planPump, type Stage } from "./plan-pump.ts";
import type { Script } from "./script.ts";

export type Planner = (stage: Stage, random: Random) => Script;

export interface Episode {
  readonly atMs: number;
  readonly plan: Planner;
}

const QUIET_AFTER_MS = 2 * HOUR_MS;

/** Schedules the next episode of an established token; ticks need a `shallow` market. */
export function everydayEpisode(nowMs: number, meanHours: number, shallow: boolean, random: Random): Episode {
  const atMs = Math.ceil(nowMs + QUIET_AFTER_MS + random.waiting(meanHours * HOUR_MS));
  const plan = random.weighted<Planner>([
    [(stage, chance) => planPump(stage, chance), shallow ? 0.75 : 0.9],
    [planWash, shallow ? 0.05 : 0.1],
    [planThin, shallow ? 0.2 : 0],
  ]);
  return { atMs, plan };
}
