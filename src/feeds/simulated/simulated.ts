import { VERSION } from "../../base/lib/version.ts";
import { integer, setting } from "../../base/settings/index.ts";
import type { FeedKind } from "../feed-kind.ts";
import { paceText } from "../market-settings.ts";
import { resumeSimulated } from "./resume-simulated.ts";
import { createSimulatedFeed } from "./simulated-feed.ts";

const SETTINGS = {
  seed: setting("seed", integer(0, 4_294_967_295), {
    default: "1",
    example: "7",
    description:
      "Seed of the simulated market. The same seed and start time produce the same market. Each seed has its own event log",
  }),
};

const DEFAULT_SEED = 1;

/** A market that is made up. */
export const simulated: FeedKind<typeof SETTINGS> = {
  name: "simulated",
  settings: SETTINGS,
  market: {
    title: "the simulated market",
    settings: ["seed"],
    isRealTime: false,
    startsAtPresent: false,
    defaults: () => ({ warmup: "6h" }),
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
