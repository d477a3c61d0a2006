import type { EventEmitter } from "eventemitter3";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Alerts } from "../alerts/index.ts";
import { type Config, leaderOf, oneProcess } from "../config/config.ts";
import {
  AdmissionQueue,
  type MetricsText,
  Refusals,
  registerEvents,
  registerMetrics,
  registerTickets,
  registerWebSocket,
} from "../http/index.ts";
import { Head, Hub } from "../hub/index.ts";
import { type Clock, systemClock } from "../lib/time/clock.ts";
import { VERSION } from "../lib/version.ts";
import type { EventLog } from "../log/index.ts";
import { createGatewayMetrics, type GatewayMetrics, type WorkerCounts } from "../metrics/index.ts";
import { type EventBody, FlarewireError, type Freshness, formatCursor } from "../protocol/index.ts";
import { type SnapshotSource, watchFreshness } from "../source/index.ts";
import { createLogger } from "./create-logger.ts";
import { type Frontend, type OpenFront, ownServer } from "./frontend.ts";
import { type GatewayEventMap, GatewayEvents } from "./gateway-events.ts";
import { type OpenAlerts, openAlerts } from "./open/open-alerts.ts";
import { type Keys, type OwnKeys, openKeys } from "./open/open-keys.ts";
import { type OpenSource, openSource, type Resume } from "./open/open-source.ts";
import { openPersistence, type Persistence } from "./persistence/persistence.ts";
import { prepareSource } from "./run-source.ts";

/** A running gateway. */
export interface Gateway {
  /** Where it listens, without the base path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Tells this process what the clients are told, after it is in the log. A listener that throws, or whose promise does, is logged and disturbs nobody. */
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
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** In place of the source that the config names. */
  readonly source?: SnapshotSource;
  /** The key that a server is shown which the config says to follow, of the plan `pro`; none by default. */
  readonly leaderKey?: string | undefined;
  /** The key that Etherscan is asked with, where the config names it; none by default. */
  readonly etherscanKey?: string | undefined;
  /**
   * Where the data directory cannot be used, events are held in memory only, and the log, `/readyz` and a metric say so. Default
   * false: the start fails, because whoever names a directory counts on it.
   */
  readonly isDataOptional?: boolean;
  /** Ends the wait for the first snapshot; what was started is stopped by {@link Gateway.stop}. */
  readonly signal?: AbortSignal;
}

/** How long a start waits for the first snapshot of a source that shows no life; one that does, in its warm-up, is waited for. */
const FIRST_SNAPSHOT_MS = 5_000;

/** What is left of plain HTTP when the last client has gone gets this long. */
const HTTP_CLOSE_MS = 1_000;

/**
 * Builds the gateway out of its parts, listens, and starts to poll. Resolves when the first snapshot is served, at once with one that was kept, when
 * `signal` aborts, or after 5 seconds if the source shows no life: that is no reason not to start, and `/readyz` says so. Rejects with FlarewireError
 * `invalid-setting` when it cannot listen, with InputError when the recording or the file of keys cannot be read, and while another process has the data
 * directory, and with FlarewireError `invalid-setting` where the config asks for workers, which a program that embeds the gateway does not have.
 */
export async function startGateway(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  oneProcess(config);
  return startGatewayWithFrontend(() => ownServer(config), config, parts);
}

/** As {@link startGateway}, with what stands between the gateway and its clients. */
export async function startGatewayWithFrontend(
  openFront: (keys: OwnKeys) => OpenFront,
  config: Config,
  parts: GatewayParts,
  workers?: () => WorkerCounts,
): Promise<Gateway> {
  mustBeConfig(config);
  const clock = parts.clock ?? systemClock;
  const logger = parts.logger ?? createLogger(config.logLevel);
  const { isDataOptional } = parts;
  const keeping = { config, clock, logger, sourceName: parts.source?.info.name, isDataOptional };
  const kept = openPersistence(keeping);
  let keys: OwnKeys | undefined;
  let alerts: OpenAlerts | undefined;
  try {
    const { leaderKey, etherscanKey } = parts;
    const isEdge = leaderOf(config) !== undefined;
    keys = await openKeys(config, { clock, logger, leaderKey: isEdge ? leaderKey : undefined });
    alerts = await openAlerts(keeping);
    const opened = openSource(config, { clock, logger, kept, leaderKey, etherscanKey }, parts.source);
    const own = { clock, logger, kept, keys, alerts, opened, openFront: openFront(keys), workers };
    return await runGateway(config, own, parts.signal);
  } catch (error) {
    keys?.stop();
    alerts?.close();
    await kept.close();
    throw error;
  }
}

/** A program without types may give settings where a config belongs. */
function mustBeConfig(given: unknown): void {
  if (Object(given).logLevel !== undefined) return;
  throw new FlarewireError(
    "invalid-setting",
    "that is no config; make one, as in startGateway(createConfig({ port: 0 }))",
  );
}

/** All that a gateway is run with. */
export interface RunParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kept: Persistence;
  readonly keys: Keys;
  /** Default: nobody is told by webhooks. */
  readonly alerts?: OpenAlerts | undefined;
  readonly opened: OpenSource;
  readonly openFront: OpenFront;
  /** See MetricsParts. */
  readonly workers?: (() => WorkerCounts) | undefined;
  /** What `/metrics` shows, where this process has only a part of it; default: its own numbers. */
  readonly wholeMetrics?: (own: GatewayMetrics) => MetricsText;
  /** The operator is told by another process how the source fares. Default false. */
  readonly isSourceElsewhere?: boolean;
}

/** Runs a gateway out of its opened parts. As {@link startGateway}, but for what opening them can throw. */
export async function runGateway(config: Config, parts: RunParts, signal?: AbortSignal): Promise<Gateway> {
  const { clock, logger, kept, keys, opened, openFront, workers, wholeMetrics } = parts;
  const { door, places } = keys;
  const { source, resume } = opened;
  const prepared = prepareSource(opened, kept);
  const { log, aheadWaitMs, mayBeMirrored } = prepared;
  const head = new Head({
    log,
    ...(resume ? { initial: resume } : {}),
    onError: (error) => logger.error({ err: error }, "a listener of the head failed"),
  });
  let front: Frontend | undefined;
  const freshness = () => [kept, front, keys].reduce(withTrouble, source.freshness());
  const hub = createHub(config, {
    ...{ clock, logger, source, freshness, log, head, resume, aheadWaitMs, mayBeMirrored },
  });
  const events = new GatewayEvents((error) =>
    logger.error({ err: error }, "a listener of the gateway failed"),
  );
  const { rejected, upstream, services, late } = opened;
  let alerts: Alerts | undefined;
  const refusals = new Refusals(clock, logger);
  const metrics = config.metrics
    ? createGatewayMetrics({
        ...{ hub, head, log, freshness, rejected, services, late, version: VERSION },
        ...{ info: () => source.info, isDataLost: () => kept.trouble !== undefined },
        ...{ workers, isKeyFileUsable: keys.isFileUsable, refusals: () => refusals.counts },
        ...(parts.alerts ? { webhooks: () => alerts?.stats() ?? {} } : {}),
        ...(upstream ? { upstream } : {}),
      })
    : undefined;
  const polling = new AbortController();
  let draining = false;
  front = await openFront({
    ...{ head, hub, log, metrics, refusals, freshness, clock },
    info: () => source.info,
    ready: () => !draining,
    door,
    settings: { ...config, closeGraceMs: HTTP_CLOSE_MS },
    logger,
    register: async (instance: FastifyInstance) => {
      const admissions = new AdmissionQueue({ hub, clock });
      const shared = { hub, clock, places, door, allowedOrigins: config.allowedOrigins, admissions };
      await registerWebSocket(instance, { ...shared, compression: config.compression });
      if (metrics) registerMetrics(instance, wholeMetrics?.(metrics) ?? metrics);
      registerEvents(instance, { ...shared, log, head, freshness, info: () => source.info });
      await registerTickets(instance, shared);
    },
  });
  const onPublished = (batch: readonly EventBody[]) => events.tell(batch, formatCursor(head.cursor));
  const run = {
    ...{ head, hub, clock, logger, onPublished },
    ...(metrics ? { onPoll: metrics.polled } : {}),
  };
  const url = await front.listen();
  const polled = prepared.run({ ...run, signal: polling.signal });
  await firstSnapshot({ head, source, clock }, polled, signal ?? polling.signal);
  await front.caughtUp?.();
  alerts = parts.alerts?.start({ log, head, history: hub.history, turn: hub.turn });
  const tellOfSource = parts.isSourceElsewhere ? () => {} : () => logSource(opened, logger);
  tellOfSource();
  const unwatch = watchFreshness({
    freshness,
    clock,
    onChange: (event) => {
      tellOfSource();
      prepared
        .publish?.({ events: [event] }, run)
        .catch((error) => logger.error({ err: error }, "status not published"));
    },
  });

  const stop = async () => {
    draining = true;
    front?.retire();
    const rejected = rejections(opened);
    if (rejected) logger.warn({ rejected }, "market events that could not be used");
    polling.abort(new Error("stopping"));
    unwatch();
    keys.stop();
    await polled;
    await opened.close?.();
    await alerts?.stop();
    // Whoever does not answer its close gets a grace; it is part of the time that the drain may take.
    await hub.drain(Math.max(0, config.drainMs - hub.limits.closeGraceMs));
    await front?.close();
    metrics?.close();
    await kept.close();
  };
  let stopped: Promise<void> | undefined;
  return { url, events, head, freshness, stop: () => (stopped ??= stop()) };
}

/** By reason the market events that could not be used; `undefined` when all could. Dust, which every chain has, is none of them. */
function rejections({ rejected }: OpenSource): Readonly<Record<string, number>> | undefined {
  const unusable = Object.entries(rejected?.() ?? {}).filter(
    ([reason, count]) => reason !== "dust" && count > 0,
  );
  return unusable.length === 0 ? undefined : Object.fromEntries(unusable);
}

/** Tells the operator how the source fares: at the start, and when that changes. */
function logSource(opened: OpenSource, logger: Logger): void {
  const { info } = opened.source;
  const { state, reason, observed_at } = opened.source.freshness();
  const facts = { source: info.name, origin: info.origin, observed_at, rejected: rejections(opened) };
  if (state === "live") logger.info(facts, "the source is live");
  else logger.warn({ ...facts, reason }, `the source is ${state}: ${reason}`);
}

async function firstSnapshot(
  { head, source, clock }: { head: Head; source: Pick<SnapshotSource, "freshness">; clock: Clock },
  polled: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (head.ready) return;
  const over = new AbortController();
  const until = AbortSignal.any([over.signal, signal]);
  const arrived = new Promise<void>((resolve) => {
    const stop = head.onChange(() => {
      if (head.ready) resolve();
    });
    head.onRestart(() => resolve());
    over.signal.addEventListener("abort", stop);
  });
  const patience = async () => {
    do await clock.sleep(FIRST_SNAPSHOT_MS, until).catch(() => {});
    while (!until.aborted && source.freshness().state === "live");
  };
  await Promise.race([arrived, polled, patience()]);
  over.abort();
}

/** That nothing outlives the process is said wherever the source's state is, without changing that. */
function withTrouble(freshness: Freshness, part: { readonly trouble?: string | undefined } | undefined) {
  const trouble = part?.trouble;
  if (trouble === undefined) return freshness;
  const { reason } = freshness;
  return { ...freshness, reason: reason === "" ? trouble : `${reason}; ${trouble}` };
}

interface HubParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source: Pick<SnapshotSource, "info">;
  readonly freshness: () => Freshness;
  readonly log: EventLog;
  readonly head: Head;
  readonly resume: Resume | undefined;
  readonly aheadWaitMs: number;
  readonly mayBeMirrored: () => boolean;
}

function createHub(config: Config, parts: HubParts): Hub {
  const { clock, logger, source, freshness, log, head, resume, aheadWaitMs, mayBeMirrored } = parts;
  return new Hub({
    ...(resume ? { known: resume.known } : {}),
    mayBeMirrored,
    limits: { aheadWaitMs },
    log,
    head,
    clock,
    info: () => source.info,
    freshness,
    heartbeatMs: config.heartbeatMs,
    serverName: `flarewire/${VERSION}`,
    onError: (error) => logger.error({ err: error }, "a session failed"),
  });
}
