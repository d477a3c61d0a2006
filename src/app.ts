import { EventEmitter } from "eventemitter3";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { type Config, listenProblem } from "./config.ts";
import { createReplayFeed, createSimulatedFeed, type Feed } from "./feed/index.ts";
import { createHttpServer, registerWebSocket } from "./http/index.ts";
import { Head, type HeadBatch, Hub } from "./hub/index.ts";
import { systemClock, type WallClock } from "./lib/clock.ts";
import { VERSION } from "./lib/version.ts";
import { createMemoryLog, type EventLog } from "./log/index.ts";
import { type EventBody, type EventName, type Freshness, formatCursor } from "./protocol/index.ts";
import {
  createEngineSource,
  createUpstreamSource,
  runPoller,
  type SnapshotSource,
  watchFreshness,
} from "./source/index.ts";
import { TrendEngine } from "./trend/index.ts";

/** An event as a program that embeds Flarewire hears it: with the cursor behind it. */
export type GatewayEvent<N extends EventName = EventName> = Extract<EventBody, { name: N }> & {
  readonly cursor: string;
};

/** What {@link Gateway.events} emits: each event under its own name, and all of them as `event`. */
export type GatewayEventMap = { readonly [N in EventName]: (event: GatewayEvent<N>) => void } & {
  readonly event: (event: GatewayEvent) => void;
};

/** A running gateway. */
export interface Gateway {
  /** Where it listens, without the base path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Tells this process what the clients are told, after it is in the log. A listener that throws is logged and disturbs nobody. */
  readonly events: EventEmitter<GatewayEventMap>;
  /** The state at the head of the log. */
  readonly head: Head;
  /** How fresh the data is now. */
  freshness(): Freshness;
  /**
   * Stops: not ready, no more polls, clients sent away over at most the drain time with a code that tells them to resume,
   * then everything closed. Resolves when nothing is left; calling it again waits for the same.
   */
  stop(): Promise<void>;
}

/** What a test or an embedding program may put in place of the real parts. */
export interface GatewayParts {
  readonly clock?: WallClock;
  readonly logger?: Logger;
  /** In place of the source that the config names. */
  readonly source?: SnapshotSource;
  /** Ends the wait for the first snapshot; what was started is stopped by {@link Gateway.stop}. */
  readonly signal?: AbortSignal;
}

/** How long a start waits for the first snapshot of a source that shows no life; one that does, in its warm-up, is waited for. */
const FIRST_SNAPSHOT_MS = 5_000;

/** What is left of plain HTTP when the last client has gone gets this long. */
const HTTP_CLOSE_MS = 1_000;

/**
 * Builds the gateway out of its parts, listens, and starts to poll. Resolves when the first snapshot is served, when `signal`
 * aborts, or after 5 seconds if the source shows no life: that is no reason not to start, and `/readyz` says so. Rejects with FlarewireError
 * `invalid-setting` when it cannot listen, and with InputError when the recording cannot be read.
 */
export async function startGateway(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  const clock = parts.clock ?? systemClock;
  const logger = parts.logger ?? pino({ level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const built = parts.source ? { source: parts.source } : createSource(config, clock, logger);
  const { source } = built;
  const log = createMemoryLog({
    clock,
    maxAgeMs: config.logAgeMs,
    minCount: config.logCount,
    maxBytes: config.logBytes,
    onError: (error) => logger.error({ err: error }, "a listener of the log failed"),
  });
  const head = new Head({
    log,
    onError: (error) => logger.error({ err: error }, "a listener of the head failed"),
  });
  const freshness = () => source.freshness();
  const hub = createHub(config, { clock, logger, source, log, head });
  const events: Gateway["events"] = new EventEmitter();
  const polling = new AbortController();
  let draining = false;
  const app = await createHttpServer({
    head,
    freshness,
    clock,
    info: () => source.info,
    ready: () => !draining,
    settings: { ...config, closeGraceMs: HTTP_CLOSE_MS },
    logger,
    register: (instance: FastifyInstance) =>
      registerWebSocket(instance, {
        hub,
        clock,
        limits: { maxSockets: config.maxSockets, maxSocketsPerIp: config.maxSocketsPerIp },
        allowedOrigins: config.allowedOrigins,
      }),
  });
  const publish = async (batch: HeadBatch) => {
    await head.publish(batch);
    announce(events, batch.events, formatCursor(head.cursor), logger);
  };
  const url = await app.listen({ host: config.host, port: config.port }).catch((error: unknown) => {
    throw listenProblem(error, config) ?? error;
  });
  const polled = runPoller({
    source,
    publish,
    clock,
    signal: polling.signal,
    onError: (error) => logger.warn({ err: error }, "poll failed"),
  });
  await firstSnapshot({ head, source, clock }, polled, parts.signal ?? polling.signal);
  logSource(built, logger);
  const unwatch = watchFreshness({
    freshness,
    clock,
    onChange: (event) => {
      logSource(built, logger);
      publish({ events: [event] }).catch((error) => logger.error({ err: error }, "status not published"));
    },
  });

  const stop = async () => {
    draining = true;
    const rejected = rejections(built);
    if (rejected) logger.warn({ rejected }, "market events that could not be used");
    polling.abort(new Error("stopping"));
    unwatch();
    await polled;
    // Whoever does not answer its close gets a grace; it is part of the time that the drain may take.
    await hub.drain(Math.max(0, config.drainMs - hub.limits.closeGraceMs));
    await app.close();
    await log.close();
  };
  let stopped: Promise<void> | undefined;
  return { url, events, head, freshness, stop: () => (stopped ??= stop()) };
}

/** A source, and by reason how many market events its engine could not use; a source that is not ours does not say. */
interface BuiltSource {
  readonly source: SnapshotSource;
  readonly rejected?: () => Readonly<Record<string, number>>;
}

/** By reason the market events that could not be used; `undefined` when all could. */
function rejections({ rejected }: BuiltSource): Readonly<Record<string, number>> | undefined {
  const unusable = Object.entries(rejected?.() ?? {}).filter(([, count]) => count > 0);
  return unusable.length === 0 ? undefined : Object.fromEntries(unusable);
}

/** Tells the operator how the source fares: at the start, and when that changes. */
function logSource(built: BuiltSource, logger: Logger): void {
  const { info } = built.source;
  const { state, reason, observed_at } = built.source.freshness();
  const facts = { source: info.name, origin: info.origin, observed_at, rejected: rejections(built) };
  if (state === "live") logger.info(facts, "the source is live");
  else logger.warn({ ...facts, reason }, `the source is ${state}: ${reason}`);
}

async function firstSnapshot(
  { head, source, clock }: { head: Head; source: SnapshotSource; clock: WallClock },
  polled: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const until = AbortSignal.any([over.signal, signal]);
  const arrived = new Promise<void>((resolve) => {
    const stop = head.onChange(() => {
      if (head.ready) resolve();
    });
    over.signal.addEventListener("abort", stop);
  });
  const patience = async () => {
    do await clock.sleep(FIRST_SNAPSHOT_MS, until).catch(() => {});
    while (!until.aborted && source.freshness().state === "live");
  };
  await Promise.race([arrived, polled, patience()]);
  over.abort();
}

function createSource(config: Config, clock: WallClock, logger: Logger): BuiltSource {
  if (config.source !== "engine") {
    const source = createUpstreamSource({
      url: config.source,
      intervalMs: config.pollIntervalMs,
      timeoutMs: config.upstreamTimeoutMs,
      staleAfterMs: config.staleAfterMs,
      clock,
      onInvalid: (report) => logger.warn({ report }, "upstream sent what is not valid"),
    });
    return { source };
  }
  const feed = createFeed(config, clock, logger);
  const engine = new TrendEngine({ facts: feed.facts, refreshMs: config.refreshMs });
  const { staleAfterMs, warmupMs } = config;
  const source = createEngineSource({ feed, engine, clock, staleAfterMs, warmupMs });
  return { source, rejected: () => engine.rejected };
}

function createFeed(config: Config, clock: WallClock, logger: Logger): Feed {
  if (config.feed === "simulated") {
    const { seed, warmupMs, speed } = config;
    return createSimulatedFeed({ seed, startAtMs: clock.now(), warmupMs, speed, clock });
  }
  return createReplayFeed({
    path: config.file,
    ...(config.profiles === undefined ? {} : { profilesPath: config.profiles }),
    ...(config.group === undefined ? {} : { group: config.group }),
    speed: config.speed,
    loop: config.loop,
    warmupMs: config.warmupMs,
    clock,
    onSkipped: (reason, line, detail) =>
      logger.warn({ reason, line, detail }, "line of the recording skipped"),
  });
}

interface HubParts {
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly source: SnapshotSource;
  readonly log: EventLog;
  readonly head: Head;
}

function createHub(config: Config, { clock, logger, source, log, head }: HubParts): Hub {
  return new Hub({
    log,
    head,
    clock,
    info: () => source.info,
    freshness: () => source.freshness(),
    heartbeatMs: config.heartbeatMs,
    serverName: `flarewire/${VERSION}`,
    onError: (error) => logger.error({ err: error }, "a session failed"),
  });
}

function announce(
  events: Gateway["events"],
  batch: readonly EventBody[],
  cursor: string,
  logger: Logger,
): void {
  // The emitter's types cannot follow a name and its event through a union; GatewayEventMap holds for each of them.
  const emit = events.emit.bind(events) as (name: string, event: GatewayEvent) => boolean;
  for (const body of batch) {
    const event = { ...body, cursor } as GatewayEvent;
    try {
      emit("event", event);
      emit(event.name, event);
    } catch (error) {
      logger.error({ err: error, event: event.name }, "a listener of the gateway failed");
    }
  }
}
