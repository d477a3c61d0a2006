import type { Logger } from "pino";
import { InputError } from "../base/lib/input-error.ts";
import { notifyLog } from "../base/lib/notify.ts";
import { messageOf } from "../base/lib/text/message-of.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import { FlarewireError, type Snapshot } from "../base/protocol/index.ts";
import { neverFlaredId, TrendEngine } from "../engine/index.ts";
import {
  type EnricherKeys,
  Recorder,
  RecordingError,
  recordFeed,
  type ServiceReport,
  UpstreamSource,
} from "../feeds/index.ts";
import { type FeedConfig, feedGap, openFeed } from "../feeds/open/open-feed.ts";
import { type ResumedMarket, resumeSimulated } from "../feeds/open/resume-simulated.ts";
import type { ClusterState } from "../gateway/metrics/index.ts";
import type { Persistence } from "../gateway/persistence/persistence.ts";
import type { EngineProgress, RestoredState } from "../gateway/persistence/restored-state.ts";
import {
  EngineSource,
  type Leader,
  type PollCounts,
  type ResumedRun,
  type SnapshotSource,
} from "../gateway/source/index.ts";
import type { ClusterSource } from "../scale/cluster/node/cluster-source.ts";
import { FollowedLeader } from "../scale/follow/index.ts";
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

export type OpenSource = OpenSnapshots | OpenLeader | OpenCluster;

/** A cluster of gateways with one log. */
export type OpenCluster = Opened<"cluster", ClusterSource>;
/** Another gateway, whose log is followed. */
type OpenLeader = Opened<"leader", Leader>;
/** A source that is polled. */
export type OpenSnapshots = Opened<"snapshots", SnapshotSource>;

interface Opened<K, S> {
  readonly kind: K;
  readonly source: S;
  /** The published state from which the source resumes. */
  readonly resume?: Resume;
  /** Why the stored state cannot be resumed. */
  readonly problem?: string;
  /**
   * Returns the engine's progress. Call it between a poll's response and the next poll. Absent
   * without an engine.
   */
  readonly progress?: () => EngineProgress | undefined;
  /** Returns how much of the engine's warm-up was read, 0 to 1; `undefined` outside of it. */
  readonly warmedUp?: () => number | undefined;
  /** Returns whether a resumed market is old and still catches up. Absent without an engine. */
  readonly isCatchingUp?: () => boolean;
  /** Returns the market events that were unusable so far, by reason. Absent without an engine. */
  readonly rejected?: () => Readonly<Record<string, number>>;
  /** Returns the health of the services that the market uses. Absent if none is opened here. */
  readonly services?: () => readonly ServiceReport[];
  /**
   * Returns how many of an aggregator's reports came too late, by part. Absent without an engine.
   */
  readonly late?: () => Readonly<Record<string, number>>;
  /** Returns counts of an upstream's polls. Absent without an upstream. */
  readonly upstream?: () => PollCounts;
  /** Returns this node's part in a cluster. Absent without one. */
  readonly cluster?: () => ClusterState;
  /** Finishes the recording, or disconnects from the cluster. Call it after the last poll. */
  readonly close?: () => Promise<void>;
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
    const source = openLeader(leaderUrl, config, parts);
    return { kind: "leader", source, ...(restored ? { resume: resumeOf(restored, 0) } : {}) };
  }
  if (given || config.source !== "engine") {
    const resume = restored ? { resume: resumeOf(restored, Number.NEGATIVE_INFINITY) } : {};
    if (given) return { kind: "snapshots", source: given, ...resume };
    const source = createUpstream(config, parts, restored?.known.lists.snapshot);
    return { kind: "snapshots", source, upstream: () => source.stats(), ...resume };
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

function openLeader(
  url: string,
  { staleAfterMs }: Pick<Config, "staleAfterMs">,
  { clock, logger, leaderKey }: SourceParts,
): Leader {
  const notify = notifyLog(logger, { leader: url });
  return new FollowedLeader({ url, key: leaderKey, clock, staleAfterMs, notify });
}

/** Returns the point to resume from. Polls up to `afterMs` repeat what was published. */
export function resumeOf({ known, observedAtMs }: RestoredState, afterMs: number) {
  return { snapshot: known.lists.snapshot, observedAtMs, afterMs, known };
}

type Resume = ReturnType<typeof resumeOf>;

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
    neverFlaredId,
    onInvalid: (report) => logger.warn({ report }, "upstream sent invalid data"),
  });
}

function createEngine(
  config: SourceConfig,
  parts: SourceParts,
  restored: RestoredState | undefined,
  resume?: ResumedMarket,
): OpenSource {
  const { refreshMs, staleAfterMs } = config;
  const before = restored?.engine;
  const { clock, logger } = parts;
  const opened = openFeed(config, parts, restored, resume);
  const { beganAtMs } = opened;
  const options = { facts: opened.feed.facts, refreshMs };
  const engine = before ? TrendEngine.restore(before.checkpoint, options) : new TrendEngine(options);
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
