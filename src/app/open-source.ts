import type { Logger } from "pino";
import { InputError } from "../base/lib/input-error.ts";
import { messageOf } from "../base/lib/text/message-of.ts";
import type { Clock } from "../base/lib/time/clock.ts";
import { MINUTE_MS } from "../base/lib/time/time.ts";
import { FlarewireError, type Snapshot } from "../base/protocol/index.ts";
import { neverFlaredId, TrendEngine } from "../engine/index.ts";
import type { OpenPolled, ResumedMarket } from "../feeds/index.ts";
import { HeadLag, OutputError } from "../feeds/index.ts";
import type { EngineProgress, RestoredState } from "../gateway/persistence/index.ts";
import {
  type OpenSnapshots,
  type OpenSource,
  resumeOf,
  type ServiceKeys,
  type SnapshotSource,
} from "../gateway/source/index.ts";
import { openLeader } from "../scale/follow/index.ts";
import { type Config, leaderOf } from "./config/config.ts";
import { type EngineCheckpoint, EngineCheckpoints, restoreEngine } from "./data/engine-checkpoints.ts";
import type { SourceIdentity } from "./data/file-persistence.ts";
import { engineOptions } from "./engine-options.ts";
import { EngineSource } from "./engine-source.ts";
import { FEEDS } from "./feeds.ts";
import { LAYERS, marketOf, openMarket } from "./market.ts";

/** Time to pack a token, with the pauses between slices. */
const PACK_MS = 1;

interface SourceContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly restored: RestoredState | undefined;
  /** Key for a leader that requires one. */
  readonly leaderKey?: string | undefined;
  /** Keys of the services that provide facts about tokens. */
  readonly enricherKeys?: ServiceKeys | undefined;
}

/** Opens the config's source or the given one, and resumes it if the stored state allows that. */
export function openSource(
  config: Config,
  context: SourceContext,
  given: SnapshotSource | undefined,
): OpenSource {
  const { restored } = context;
  const leaderUrl = given ? undefined : leaderOf(config);
  if (leaderUrl !== undefined) {
    const { clock, logger, leaderKey: key } = context;
    return openLeader(leaderUrl, { clock, logger, staleAfterMs: config.staleAfterMs, key, restored });
  }
  if (given || config.source !== "engine") {
    const resume = restored ? { resume: resumeOf(restored, Number.NEGATIVE_INFINITY) } : {};
    if (given) return { kind: "snapshots", source: given, ...resume };
    return { kind: "snapshots", ...openPolled(config, context, restored?.known.lists.snapshot), ...resume };
  }
  if (!restored?.engine) return createEngine(config, context);
  try {
    const { observedAtMs, engine } = restored;
    const stored = { observedAtMs, afterMs: engine.afterMs, beganAtMs: engine.beganAtMs };
    const resumption = marketOf(config).resume(config, stored, context.clock.now());
    if ("problem" in resumption) return { ...createEngine(config, context), ...resumption };
    return {
      ...createEngine(config, context, engine, { ...stored, ...resumption }),
      resume: resumeOf(restored, observedAtMs),
    };
  } catch (error) {
    if (isUserError(error)) throw error;
    const reason = messageOf(error);
    const problem = `the engine's checkpoint cannot be loaded (${reason})`;
    return { ...createEngine(config, context), problem };
  }
}

/** Whether only the user can fix the error: starting a new epoch would not help. */
function isUserError(error: unknown): boolean {
  return (
    error instanceof InputError ||
    error instanceof OutputError ||
    (error instanceof FlarewireError && error.code === "invalid-setting")
  );
}

/** Opens the service that the config names. */
function openPolled(
  config: Config,
  { clock, logger }: SourceContext,
  resume: Snapshot | undefined,
): OpenPolled {
  const polled = FEEDS.find((kind) => kind.polled)?.polled;
  if (!polled) throw new FlarewireError("invalid-setting", `source = ${config.source} cannot be polled`);
  const { source, staleAfterMs } = config;
  return polled.open(source, config, { clock, logger, staleAfterMs, resume, neverFlaredId });
}

function createEngine(
  config: Config,
  { clock, logger, enricherKeys: keys = {} }: SourceContext,
  before?: EngineProgress,
  resume?: ResumedMarket,
): OpenSnapshots {
  const { refreshMs, staleAfterMs } = config;
  const lag = marketOf(config).isRealTime ? new HeadLag(clock) : undefined;
  const { feed, beganAtMs, begin, close } = openMarket(config, { clock, logger, keys, lag }, resume);
  const options = engineOptions(feed, refreshMs);
  const engine = before ? restoreEngine(storedIn(before), options) : new TrendEngine(options);
  const checkpoints = new EngineCheckpoints(engine);
  begin();
  const source = new EngineSource({
    feed,
    engine,
    clock,
    staleAfterMs,
    // A resumed market needs no warm-up.
    warmupMs: before || marketOf(config).startsAtPresent ? 0 : config.warmupMs,
    ...(resume ? { resume } : {}),
    lag,
    packBefore: (event) => checkpoints.packBefore(event),
  });
  const progress = () => {
    const afterMs = source.clockAtMs;
    if (afterMs === undefined || isTooLate(engine)) return undefined;
    const { slices, ...checkpoint } = checkpoints.begin();
    return { afterMs, checkpoint, slices, ...(beganAtMs === undefined ? {} : { beganAtMs }) };
  };
  return {
    kind: "snapshots",
    source,
    progress,
    close,
    warmedUp: () => source.warmedUp,
    isCatchingUp: () => source.isCatchingUp,
    rejected: () => engine.rejected,
    services: () => feed.services?.() ?? [],
    replaced: () => feed.replaced?.() ?? {},
    ...(lag && { lag: () => lag.stages }),
    late: () => Object.fromEntries((feed.parts?.() ?? []).map((part) => [part.name, part.late] as const)),
  };
}

/** Whether the minute, whose end changes all tokens, leaves too little time to pack them. */
function isTooLate({ clockMs, tokenCount }: TrendEngine): boolean {
  return tokenCount * PACK_MS > MINUTE_MS - (clockMs % MINUTE_MS);
}

/** Only its writer knows the form of what it stored. */
function storedIn({ checkpoint, slices }: EngineProgress): EngineCheckpoint {
  return { ...(checkpoint as EngineCheckpoint), ...(slices ? { slices } : {}) };
}

/**
 * Returns what identifies the config's source, or the given one of that name, in stored files and
 * states. Resuming needs an engine's state only if an engine makes the snapshots: every other
 * source returns everything at each poll.
 */
export function identityOf(config: Config, given: string | undefined): SourceIdentity {
  const { source, feed } = config;
  if (given !== undefined || source !== "engine") {
    const name = given ?? source;
    return { name, fingerprint: JSON.stringify({ source: name }), needsEngine: false };
  }
  const market = marketOf(config);
  const parts = [market.fingerprint(config), ...LAYERS.map((layer) => layer.fingerprint?.(config))];
  return {
    name: `${feed}${market.identity(config)}`,
    fingerprint: JSON.stringify(Object.assign({ feed }, ...parts)),
    needsEngine: true,
  };
}
