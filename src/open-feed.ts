import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { createReplayFeed, createSimulatedFeed, type Feed } from "./feed/index.ts";
import type { WallClock } from "./lib/clock.ts";
import type { RestoredState } from "./restored-state.ts";
import type { SimulatedPlace } from "./resume-simulated.ts";

/** What a feed is opened with. */
export interface FeedParts {
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** A feed, and what has to be kept to go on with it. */
export interface OpenFeed {
  readonly feed: Feed;
  /** Event time at which its market began, where that is a simulated one. */
  readonly beganAtMs?: number;
}

/** The feed that the config names; where there is something to go on from, it begins there. */
export function openFeed(
  config: Config,
  { clock, logger }: FeedParts,
  restored?: RestoredState,
  place?: SimulatedPlace,
): OpenFeed {
  if (config.feed === "simulated") {
    const { seed, warmupMs, speed } = config;
    const feed = createSimulatedFeed({
      seed,
      speed,
      clock,
      ...(place ?? { startAtMs: clock.now(), warmupMs }),
    });
    return { feed, beganAtMs: feed.beginAtMs };
  }
  const before = restored?.engine;
  const feed = createReplayFeed({
    path: config.file,
    ...(config.profiles === undefined ? {} : { profilesPath: config.profiles }),
    ...(config.group === undefined ? {} : { group: config.group }),
    speed: config.speed,
    loop: config.loop,
    warmupMs: config.warmupMs,
    ...(restored && before
      ? { resume: { afterMs: before.afterMs, catchUpToMs: restored.observedAtMs } }
      : {}),
    clock,
    onSkipped: (reason, line, detail) =>
      logger.warn({ reason, line, detail }, "line of the recording skipped"),
  });
  return { feed };
}
