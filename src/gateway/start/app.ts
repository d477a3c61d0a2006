import type { EventEmitter } from "eventemitter3";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type Config, leaderOf } from "../../app/config/config.ts";
import { identityOf, openSource } from "../../app/open-source.ts";
import { notifyLog } from "../../base/lib/notify.ts";
import { type Clock, systemClock } from "../../base/lib/time/clock.ts";
import { VERSION } from "../../base/lib/version.ts";
import {
  type Epoch,
  type EventBody,
  FlarewireError,
  type Freshness,
  formatCursor,
} from "../../base/protocol/index.ts";
import type { Alerts } from "../../extensions/alerts/index.ts";
import { type OpenAlerts, openAlerts } from "../../extensions/alerts/open-alerts.ts";
import { type OpenHistory, openHistory } from "../../extensions/history/open-history.ts";
import { registerMcp } from "../../extensions/mcp/index.ts";
import {
  AdmissionQueue,
  checkOrigin,
  pushSettings,
  registerEvents,
  registerMetrics,
  registerPush,
  registerTickets,
  registerWebSocket,
} from "../http/index.ts";
import { Head, Hub } from "../hub/index.ts";
import { freshnessOf } from "../persistence/gateway-freshness.ts";
import { openPersistence, type Persistence } from "../persistence/persistence.ts";
import type { RestoredState } from "../persistence/restored-state.ts";
import type { ServiceKeys } from "../source/feed.ts";
import { type SnapshotSource, watchFreshness } from "../source/index.ts";
import { createLogger } from "./create-logger.ts";
import { type Frontend, type OpenFrontend, openServer } from "./frontend.ts";
import { type GatewayEventMap, GatewayEvents } from "./gateway-events.ts";
import { type Keys, openKeys } from "./open-keys.ts";
import { createHttpCounts, hasOwnMetricsPort, listenWithMetrics, openMetrics } from "./open-metrics.ts";
import type { OpenSource } from "./opened-source.ts";
import { logRejections, logSource, reportStart } from "./report-source.ts";
import { prepareSource, type RunnableSource } from "./run-source.ts";

export interface Gateway {
  /** Base URL without the base path, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** URL of the metrics, if they have a port of their own. */
  readonly metricsUrl: string | undefined;
  /** Emits each event once the log has it. A listener's error is logged and affects no other. */
  readonly events: EventEmitter<GatewayEventMap>;
  readonly head: Head;
  freshness(): Freshness;
  /**
   * Stops: `/readyz` fails, polling ends, clients are asked to reconnect within the drain time.
   * Resolves when everything is closed. Later calls return the same promise.
   */
  stop(): Promise<void>;
}

/** Replacements for the real parts, for tests and embedding programs. */
export interface GatewayParts {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Replaces the source that the config names. */
  readonly source?: SnapshotSource;
  /** Key that an edge presents to its leader. Its plan must be `pro`. Default: none. */
  readonly leaderKey?: string | undefined;
  /** Password of the servers that the setting `cluster` names. Default: none. */
  readonly clusterPassword?: string | undefined;
  /** Keys of the services that the setting `enrich` names. Default: none. */
  readonly enricherKeys?: ServiceKeys;
  /** Allows push services on this machine, without TLS, for tests. Default false. */
  readonly isLocalPush?: boolean;
  /**
   * Holds events in memory if the data directory is unusable, and reports it. Default false: the
   * start fails, because an operator who names a directory relies on it.
   */
  readonly isDataOptional?: boolean;
  /** Stores finished flares and past minutes, and serves them. Default true. */
  readonly hasHistory?: boolean;
  /** Epoch of a log in memory, for reproducible results. Default: random. */
  readonly epoch?: Epoch;
  /** Called every 3 seconds of the warm-up with the percentage that was read, if that has grown. */
  readonly onWarmup?: ((percent: number) => void) | undefined;
  /**
   * Ends the wait for the first snapshot. Rejects the start if a cluster's servers have not
   * answered yet. Only {@link Gateway.stop} stops a started gateway.
   */
  readonly signal?: AbortSignal;
}

/** How long a start waits for a first snapshot. A live source that warms up has no limit. */
const FIRST_SNAPSHOT_MS = 5_000;

const WARMUP_REPORT_MS = 3_000;

/** Time that remaining HTTP requests get after the last client has been disconnected. */
const HTTP_CLOSE_MS = 1_000;

/**
 * Starts a gateway: opens its parts, listens and polls. Resolves when the first snapshot is served,
 * when `signal` aborts, when the source ends, or after 5 seconds if the source is not live.
 *
 * Rejects with FlarewireError `invalid-setting` when it cannot listen, with InputError when a file
 * cannot be read, and while another process uses the data directory.
 */
export function startGateway(config: Config, parts: GatewayParts = {}): Promise<Gateway> {
  return startGatewayWithFrontend((options) => openServer(config, options), config, parts);
}

/** Starts a gateway like {@link startGateway}, in another server. */
export async function startGatewayWithFrontend(
  openFrontend: OpenFrontend,
  config: Config,
  parts: GatewayParts,
): Promise<Gateway> {
  assertConfig(config);
  const clock = parts.clock ?? systemClock;
  const logger = parts.logger ?? createLogger(config.logLevel);
  const { isDataOptional, leaderKey, enricherKeys } = parts;
  const identity = identityOf(config, parts.source?.info.name);
  const open = (restored: RestoredState | undefined) =>
    openSource(config, { clock, logger, restored, leaderKey, enricherKeys }, parts.source);
  const persistenceOptions = {
    config,
    clock,
    logger,
    isDataOptional,
    ...{ identity, epoch: parts.epoch },
  };
  // A cluster's client library is loaded only if there is one.
  const library =
    config.cluster === "none" ? undefined : await import("../../scale/cluster/node/open-cluster.ts");
  const cluster = await library?.openCluster(config, { ...parts, clock, logger, identity, open });
  const persistence = cluster?.persistence ?? openPersistence(persistenceOptions);
  let keys: Keys | undefined;
  let alerts: OpenAlerts | undefined;
  let history: OpenHistory | undefined;
  try {
    const isEdge = leaderOf(config) !== undefined;
    const { state } = cluster ?? {};
    keys = await openKeys(config, { clock, logger, state, leaderKey: isEdge ? leaderKey : undefined });
    alerts = await openAlerts(
      { ...persistenceOptions, policy: keys.policy },
      cluster?.alerts,
      parts.isLocalPush,
    );
    // A cluster's log is not in the data directory and does not lock it. Other processes of the
    // user may use the default one.
    const isOwnDirectory = !cluster || !isDataOptional;
    const directory = isOwnDirectory ? {} : { config: { ...config, data: "none" } };
    if (parts.hasHistory ?? true) history = openHistory(config, { ...persistenceOptions, ...directory });
    const opened = cluster?.opened ?? open(persistence.restored);
    const { onWarmup } = parts;
    const own = { clock, logger, persistence, keys, alerts, history, opened, openFrontend, onWarmup };
    return await runGateway(config, own, parts.signal);
  } catch (error) {
    keys?.stop();
    alerts?.close();
    await history?.close();
    await persistence.close();
    await cluster?.opened.close?.();
    throw error;
  }
}

/** Rejects plain settings, which an untyped program may pass instead of a Config. */
function assertConfig(given: unknown): void {
  if (Object(given).logLevel !== undefined) return;
  throw new FlarewireError(
    "invalid-setting",
    "expected a Config; create one with createConfig(), for example startGateway(createConfig({ port: 0 }))",
  );
}

/** Opened parts that {@link runGateway} connects. */
interface RunParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly persistence: Persistence;
  readonly keys: Keys;
  readonly alerts: OpenAlerts | undefined;
  readonly history: OpenHistory | undefined;
  readonly opened: OpenSource;
  readonly openFrontend: OpenFrontend;
  readonly onWarmup: GatewayParts["onWarmup"];
}

async function runGateway(config: Config, parts: RunParts, signal?: AbortSignal): Promise<Gateway> {
  const { clock, logger, persistence, keys, opened, openFrontend } = parts;
  const { policy, registry } = keys;
  const { source, resume } = opened;
  const prepared = prepareSource(opened, persistence);
  const { log } = prepared;
  const head = new Head({
    log,
    ...(resume ? { initial: resume } : {}),
    onError: (error) => logger.error({ err: error }, "listener of the head failed"),
  });
  let frontend: Frontend | undefined;
  const freshness = () => freshnessOf(opened, clock, [persistence, frontend, keys]);
  const hub = createHub(config, parts, prepared, head, freshness);
  const events = new GatewayEvents((error) => logger.error({ err: error }, "listener of the gateway failed"));
  let alerts: Alerts | undefined;
  const counts = createHttpCounts(clock, logger);
  const webhooks = parts.alerts && (() => alerts?.stats() ?? {});
  const measured = { hub, head, log, freshness, opened, persistence, keys, webhooks };
  const metrics = openMetrics(config, measured, counts);
  const polling = new AbortController();
  let draining = false;
  frontend = await openFrontend({
    ...{ head, freshness, clock, history: parts.history?.reader, ...counts },
    info: () => source.info,
    ready: () => !draining,
    limitStreams: (max) => registry.limiter.lower(max),
    isStaleReady: () => opened.kind === "cluster" && opened.source.hasCaughtUp,
    policy,
    settings: { ...config, ...pushSettings(parts.alerts?.push), closeGraceMs: HTTP_CLOSE_MS },
    logger,
    register: async (instance: FastifyInstance) => {
      const admissions = new AdmissionQueue({ hub, clock });
      const shared = { hub, clock, registry, policy, allowedOrigins: config.allowedOrigins, admissions };
      await registerWebSocket(instance, { ...shared, compression: config.compression });
      if (metrics && !hasOwnMetricsPort(config)) registerMetrics(instance, metrics);
      registerEvents(instance, { ...shared, log, head, freshness, info: () => source.info });
      await registerTickets(instance, shared);
      registerPush(instance, { ...shared, push: parts.alerts?.push });
      await registerMcp(instance, { checkOrigin: (origin) => checkOrigin(origin, config.allowedOrigins) });
    },
  });
  const onPublished = (batch: readonly EventBody[]) => events.emitBatch(batch, formatCursor(head.cursor));
  const run = {
    ...{ head, hub, clock, logger, onPublished },
    ...(metrics ? { onPoll: metrics.polled } : {}),
  };
  const listening = await listenWithMetrics(config, metrics, counts.refusals, logger, frontend.listen);
  parts.history?.watch(head, () => source.info);
  const polled = prepared.run({ ...run, signal: polling.signal });
  await firstSnapshot(parts, head, polled, signal ?? polling.signal);
  alerts = parts.alerts?.start({ log, head, history: hub.history, turn: hub.turn });
  const recorded = parts.history?.record({ log, head, info: () => source.info, signal: polling.signal });
  const reportSource = () => logSource(opened, logger);
  if (!signal?.aborted) void reportStart(opened, reportSource, clock, polling.signal);
  const unwatch = watchFreshness({
    freshness,
    clock,
    onChange: (event) => {
      reportSource();
      prepared
        .publish?.({ events: [event] }, run)
        .catch((error) => logger.error({ err: error }, "failed to publish the status"));
    },
  });

  const stop = async () => {
    draining = true;
    frontend?.retire();
    logRejections(opened, logger);
    polling.abort(new Error("stopping"));
    unwatch();
    keys.stop();
    await Promise.all([polled, recorded]);
    await opened.close?.();
    await alerts?.stop();
    // The grace period of sessions that do not answer their close is part of the drain time.
    await hub.drain(Math.max(0, config.drainMs - hub.limits.closeGraceMs));
    await frontend?.close();
    await parts.history?.close();
    await listening.close();
    metrics?.close();
    await persistence.close();
  };
  let stopped: Promise<void> | undefined;
  const { url, metricsUrl } = listening;
  return { url, metricsUrl, events, head, freshness, stop: () => (stopped ??= stop()) };
}

async function firstSnapshot(
  { opened: { source, warmedUp }, clock, onWarmup = () => {} }: RunParts,
  head: Head,
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
  let reported = -1;
  const endReports = clock.every(WARMUP_REPORT_MS, () => {
    const percent = Math.floor(100 * (warmedUp?.() ?? -1));
    if (percent > reported) onWarmup(percent);
    reported = Math.max(reported, percent);
  });
  await Promise.race([arrived, polled, patience()]).finally(() => {
    endReports();
    over.abort();
  });
}

function createHub(
  { heartbeatMs }: Pick<Config, "heartbeatMs">,
  { clock, logger, opened: { source, resume } }: RunParts,
  prepared: RunnableSource,
  head: Head,
  freshness: () => Freshness,
): Hub {
  return new Hub({
    ...(resume ? { known: resume.known } : {}),
    mayBeMirrored: () => prepared.mayBeMirrored(),
    mayLackEvents: () => prepared.mayLackEvents(),
    limits: { aheadWaitMs: prepared.aheadWaitMs },
    log: prepared.log,
    head,
    clock,
    info: () => source.info,
    freshness,
    heartbeatMs,
    serverName: `flarewire/${VERSION}`,
    onError: (error) => logger.error({ err: error }, "session failed"),
    notify: notifyLog(logger),
  });
}
