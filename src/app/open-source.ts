import type { Logger } from "pino";
import { InputError } from "../base/lib/input-error.ts";
import { messageOf } from "../base/lib/text/message-of.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import { FlarewireError, type Snapshot } from "../base/protocol/index.ts";
import { type EngineCheckpoint, TrendEngine } from "../engine/index.ts";
import { type EnricherKeys, Recorder, RecordingError, recordFeed } from "../feeds/index.ts";
import { type FeedConfig, feedGap, openFeed } from "../feeds/open/open-feed.ts";
import { type ResumedMarket, resumeSimulated } from "../feeds/open/resume-simulated.ts";
import { upstreamMetrics } from "../feeds/upstream/upstream-metrics.ts";
import { UpstreamSource } from "../feeds/upstream/upstream-source.ts";
import type { Persistence } from "../gateway/persistence/persistence.ts";
import type { RestoredState } from "../gateway/persistence/restored-state.ts";
import {
  EngineSource,
  type OpenSnapshots,
  type OpenSource,
  type ResumedRun,
  resumeOf,
  type SnapshotSource,
} from "../gateway/source/index.ts";
import { openLeader } from "../scale/follow/index.ts";
import { type Config, leaderOf } from "./config/config.ts";

type SourceConfig = FeedConfig &
  Pick<Config, "source" | "refreshMs" | "record" | "recordBytes" | "pollIntervalMs" | "upstreamTimeoutMs">;

interface SourceParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly persistence: Pick<Persistence, "restored">;
  /** Key for a leader that requires one. */
  readonly leaderKey?: string | undefined;
  readonly enricherKeys?: EnricherKeys | undefined;
}

/** Opens the config's source or the given one, and resumes it if the stored state allows that. */
export function openSource(
  config: SourceConfig,
  parts: SourceParts,
  given: SnapshotSource | undefined,
): OpenSource {
  const { restored } = parts.persistence;
  const leaderUrl = given ? undefined : leaderOf(config);
  if (leaderUrl !== undefined) {
    const { clock, logger, leaderKey: key } = parts;
    return openLeader(leaderUrl, { clock, logger, staleAfterMs: config.staleAfterMs, key, restored });
  }
  if (given || config.source !== "engine") {
    const resume = restored ? { resume: resumeOf(restored, Number.NEGATIVE_INFINITY) } : {};
    if (given) return { kind: "snapshots", source: given, ...resume };
    const source = createUpstream(config, parts, restored?.known.lists.snapshot);
    return { kind: "snapshots", source, metrics: upstreamMetrics(() => source.stats()), ...resume };
  }
  if (!restored) return createEngine(config, parts, undefined);
  try {
    const resume =
      config.feed === "simulated" ? resumeSimulated(restored, config.speed, parts.clock.now()) : undefined;
    if (resume && "problem" in resume) return { ...createEngine(config, parts, undefined), ...resume };
    const gap = feedGap(config, restored, parts.clock.now());
    if (gap !== undefined) return { ...createEngine(config, parts, undefined), problem: gap };
    return {
      ...createEngine(config, parts, restored, resume),
      resume: resumeOf(restored, restored.observedAtMs),
    };
  } catch (error) {
    if (isUserError(error)) throw error;
    const reason = messageOf(error);
    const problem = `the engine's checkpoint cannot be loaded (${reason})`;
    return { ...createEngine(config, parts, undefined), problem };
  }
}

/** Whether only the user can fix the error: starting a new epoch would not help. */
function isUserError(error: unknown): boolean {
  return (
    error instanceof InputError ||
    error instanceof RecordingError ||
    (error instanceof FlarewireError && error.code === "invalid-setting")
  );
}

function createUpstream(
  config: Pick<Config, "source" | "pollIntervalMs" | "upstreamTimeoutMs" | "staleAfterMs">,
  { clock, logger }: SourceParts,
  resume: Snapshot | undefined,
): UpstreamSource {
  return new UpstreamSource({
    ...(resume ? { resume } : {}),
    url: config.source,
    intervalMs: config.pollIntervalMs,
    timeoutMs: config.upstreamTimeoutMs,
    staleAfterMs: config.staleAfterMs,
    clock,
    onInvalid: (report) => logger.warn({ report }, "upstream sent invalid data"),
  });
}

function createEngine(
  config: SourceConfig,
  parts: SourceParts,
  restored: RestoredState | undefined,
  resume?: ResumedMarket,
): OpenSnapshots {
  const { refreshMs, staleAfterMs } = config;
  const before = restored?.engine;
  const { clock, logger } = parts;
  const opened = openFeed(config, parts, restored, resume);
  const { beganAtMs } = opened;
  const options = { facts: opened.feed.facts, refreshMs };
  const engine = before
    ? TrendEngine.restore(before.checkpoint as EngineCheckpoint, options)
    : new TrendEngine(options);
  const recorder =
    config.record === "none"
      ? undefined
      : new Recorder({ directory: config.record, maxBytes: config.recordBytes, feed: opened.feed, clock });
  const onFailure = (error: Error) => logger.error({ err: error }, error.message);
  const feed = recorder ? recordFeed(opened.feed, recorder, onFailure) : opened.feed;
  if (recorder) logger.info({ directory: recorder.directory }, "recording the market");
  // A resumed market needs no warm-up. The feeds `live` and `chain` start at the present.
  const startsAtPresent = config.feed === "live" || config.feed === "chain";
  const warmupMs = before || startsAtPresent ? 0 : config.warmupMs;
  const source = new EngineSource({
    ...{ feed, engine, clock, staleAfterMs, warmupMs },
    ...(restored ? { resume: resumedRun(config.feed, restored, resume, clock.now()) } : {}),
  });
  const progress = () => {
    const afterMs = source.clockAtMs;
    if (afterMs === undefined) return undefined;
    return { afterMs, checkpoint: engine.checkpoint(), ...(beganAtMs === undefined ? {} : { beganAtMs }) };
  };
  const warmedUp = () => source.warmedUp;
  const isCatchingUp = () => source.isCatchingUp;
  const rejected = () => engine.rejected;
  const close = recorder ? { close: () => recorder.close() } : {};
  const services = () => opened.feed.services?.() ?? [];
  const late = () =>
    Object.fromEntries((opened.feed.parts?.() ?? []).map((part) => [part.name, part.late] as const));
  return { kind: "snapshots", source, progress, warmedUp, isCatchingUp, rejected, services, late, ...close };
}

/** Returns the run that a market continues. Only a live or simulated one has a present to reach. */
function resumedRun(
  feed: Config["feed"],
  { observedAtMs }: RestoredState,
  resume: ResumedMarket | undefined,
  nowMs: number,
): ResumedRun {
  if (feed === "replay") return { observedAtMs, presentAtMs: observedAtMs };
  return { observedAtMs, presentAtMs: resume?.startAtMs ?? nowMs };
}
