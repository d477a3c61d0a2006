import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/lib/time/time.ts";
import { VERSION } from "../../base/lib/version.ts";
import { integer, setting } from "../../base/settings/index.ts";
import type { FeedKind, StoredMarket } from "../feed-kind.ts";
import { paceText } from "../market-settings.ts";
import { createSimulatedFeed } from "./simulated-feed.ts";

/** A market that was down for longer does not catch up: its events would be a flood. */
const MAX_GAP_MS = HOUR_MS;
/** An older market is not regenerated: that would take longer than a new start. */
const MAX_AGE_MS = 2 * DAY_MS;

const SETTINGS = {
  seed: setting("seed", integer(0, 4_294_967_295), {
    default: "3",
    example: "7",
    description:
      "Seed of the simulated market. The same seed and start time produce the same market. Each seed has its own event log",
  }),
};

/** Its first page after a start at any hour has several running flares. */
const DEFAULT_SEED = 3;
/**
 * The first pumps begin after two hours. Half an hour later, as many flares run as at any time: 18
 * or more. A longer warm-up delays the start by a third of a second of CPU for each half hour.
 */
const WARMUP = "150m";

/** A market that is made up. */
export const simulated: FeedKind<typeof SETTINGS> = {
  name: "simulated",
  settings: SETTINGS,
  market: {
    title: "the simulated market",
    settings: ["seed"],
    isRealTime: false,
    startsAtPresent: false,
    defaults: () => ({ warmup: WARMUP }),
    describe: ({ speed }) => `a simulated market ${paceText(speed)}`,
    open({ seed, warmupMs, speed }, { clock }, resume) {
      const { beganAtMs: beginAtMs, afterMs, presentAtMs } = resume ?? {};
      const start =
        beginAtMs === undefined || afterMs === undefined
          ? { startAtMs: clock.now(), warmupMs }
          : { startAtMs: presentAtMs ?? clock.now(), resume: { beginAtMs, afterMs } };
      const feed = createSimulatedFeed({ seed, speed, clock, ...start });
      return { feed, beganAtMs: feed.beginAtMs };
    },
    resume: ({ speed }, stored, nowMs) => resumeSimulated(stored, speed, nowMs),
    // The default seed is omitted, so that its file keeps its name.
    identity: ({ seed }) => (seed === DEFAULT_SEED ? "" : ` ${seed}`),
    // Another version of this program, or of V8 with other logarithms, may simulate a different
    // market.
    fingerprint: ({ seed, refreshMs }) => ({ seed, refreshMs, version: VERSION, v8: process.versions.v8 }),
    groups: () => [],
  },
};

/**
 * Returns where the stored simulated market resumes, or why not, as the second half of a sentence.
 * At real-time speed, the events of the downtime follow at once. At any other speed, the market
 * counts as paused meanwhile.
 */
function resumeSimulated(
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
