import type { SimulatedFeedOptions } from "../../feed/index.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/time/time.ts";
import type { RestoredState } from "../persistence/restored-state.ts";

/** A market that stood still for longer does not make up for it: its events would come in a flood. */
const MAX_GAP_MS = HOUR_MS;
/** A market that began longer ago is not made again: that would take longer than to begin anew. */
const MAX_AGE_MS = 2 * DAY_MS;

/** Where a simulated market goes on, as a feed takes it. */
export type SimulatedPlace = Required<Pick<SimulatedFeedOptions, "startAtMs" | "resume">>;

/**
 * Where the simulated market of a process before goes on. At the pace of real time its time is the real one, so what happens while the
 * gateway is down happens all the same, and is told at once when it is back. At every other pace it stands still meanwhile, as a recording does.
 * Or why it does not go on, as the second half of a sentence.
 */
export function resumeSimulated(
  { engine, observedAtMs }: RestoredState,
  speed: number,
  nowMs: number,
): SimulatedPlace | { readonly problem: string } {
  if (engine?.beganAtMs === undefined) return { problem: "it is not known when the simulated market began" };
  const startAtMs = speed === 1 ? Math.max(nowMs, observedAtMs) : observedAtMs;
  const gapMs = startAtMs - observedAtMs;
  if (gapMs > MAX_GAP_MS) {
    const [was, most] = [gapMs, MAX_GAP_MS].map((ms) => Math.ceil(ms / MINUTE_MS));
    return { problem: `the simulated market was away for ${was} minutes, and makes up for ${most} at most` };
  }
  const ageMs = observedAtMs - engine.beganAtMs;
  if (ageMs > MAX_AGE_MS) {
    const [was, most] = [ageMs, MAX_AGE_MS].map((ms) => Math.ceil(ms / HOUR_MS));
    return { problem: `the simulated market is ${was} hours old, and is made again up to ${most}` };
  }
  return { startAtMs, resume: { beginAtMs: engine.beganAtMs, afterMs: engine.afterMs } };
}
