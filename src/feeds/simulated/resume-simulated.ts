import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import type { StoredMarket } from "../feed-kind.ts";

/** A market that was down for longer does not catch up: its events would be a flood. */
const MAX_GAP_MS = HOUR_MS;
/** An older market is not regenerated: that would take longer than a new start. */
const MAX_AGE_MS = 2 * DAY_MS;

/**
 * Returns where the stored simulated market resumes, or why not, as the second half of a sentence.
 * At real-time speed, the events of the downtime follow at once. At any other speed, the market
 * counts as paused meanwhile.
 */
export function resumeSimulated(
  { beganAtMs, observedAtMs }: StoredMarket,
  speed: number,
  nowMs: number,
): { readonly presentAtMs: number } | { readonly problem: string } {
  if (beganAtMs === undefined) return { problem: "the start of the simulated market was not stored" };
  const presentAtMs = speed === 1 ? Math.max(nowMs, observedAtMs) : observedAtMs;
  const gapMs = presentAtMs - observedAtMs;
  if (gapMs > MAX_GAP_MS) {
    const [was, most] = [gapMs, MAX_GAP_MS].map((ms) => Math.ceil(ms / MINUTE_MS));
    return {
      problem: `the simulated market was down for ${was} minutes, and can catch up on at most ${most}`,
    };
  }
  const ageMs = observedAtMs - beganAtMs;
  if (ageMs > MAX_AGE_MS) {
    const [was, most] = [ageMs, MAX_AGE_MS].map((ms) => Math.ceil(ms / HOUR_MS));
    return { problem: `the simulated market is ${was} hours old, and cannot resume after ${most} hours` };
  }
  return { presentAtMs };
}
