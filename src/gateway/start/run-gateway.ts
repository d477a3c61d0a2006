import type { EventEmitter } from "eventemitter3";
import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { VERSION } from "../../base/lib/version.ts";
import { type EventBody, type Freshness, formatCursor } from "../../base/protocol/index.ts";
import {
  AdmissionQueue,
  type RouteScope,
  registerEvents,
  registerWebSocket,
  type SharedState,
} from "../http/index.ts";
import { Head, Hub } from "../hub/index.ts";
import type { OpenTokenSource } from "../keys/index.ts";
import { freshnessOf } from "../persistence/gateway-freshness.ts";
import type { OpenStore, Persistence } from "../persistence/persistence.ts";
import type { GatewaySettings } from "../settings/index.ts";
import { type OpenSource, watchFreshness } from "../source/index.ts";
import type { Extension } from "./extension.ts";
import type { Frontend, OpenFrontend } from "./frontend.ts";
import { type GatewayEventMap, GatewayEvents } from "./gateway-events.ts";
import { type OpenExtensions, openExtensions } from "./open-extensions.ts";
import { type Keys, openKeys } from "./open-keys.ts";
import { createHttpCounts, hasOwnMetricsPort, listenWithMetrics, openMetrics } from "./open-metrics.ts";
import { logRejections, logSource, reportStart } from "./report-source.ts";
import { prepareSource, type RunnableSource } from "./run-source.ts";
import type { SharedTasks } from "./shared-task.ts";

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

/** What a gateway runs on. */
export interface GatewayRun {
  readonly settings: GatewaySettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The log and its stored state. A gateway that has started closes it when it stops. */
  readonly persistence: Persistence;
  /** Opens the source of the events. Called once the keys are open. */
  readonly openSource: () => OpenSource;
  /** Opened in this order, closed in reverse. Default: none. */
  readonly extensions?: readonly Extension[] | undefined;
  /** Opens the stores of extensions. Default: in memory. */
  readonly openStore?: OpenStore | undefined;
  readonly openFrontend: OpenFrontend;
  /** State that gateways share. Default: this process's own. */
  readonly state?: SharedState | undefined;
  /** The work that only one node of a cluster does. Absent outside of a cluster. */
  readonly tasks?: SharedTasks | undefined;
  /** Opens the keys that verify tokens. Default: settings of tokens are refused. */
  readonly openTokenSource?: OpenTokenSource | undefined;
  /** The key that this gateway, an edge, presents to its leader. Default: none. */
  readonly leaderKey?: string | undefined;
  /** Called every 3 seconds of the warm-up with the percentage that was read, if that has grown. */
  readonly onWarmup?: ((percent: number) => void) | undefined;
  /** Ends the wait for the first snapshot. Only {@link Gateway.stop} stops a started gateway. */
  readonly signal?: AbortSignal | undefined;
}

/** How long a start waits for a first snapshot. A live source that warms up has no limit. */
const FIRST_SNAPSHOT_MS = 5_000;
const WARMUP_REPORT_MS = 3_000;
/** While this many requests for events wait, only one further connection is served in a turn. */
const CROWD = 32;
/** Time that remaining HTTP requests get after the last client has been disconnected. */
const HTTP_CLOSE_MS = 1_000;

/**
 * Starts a gateway: opens keys, source and extensions, listens and polls. Resolves when the first
 * snapshot is served, when `signal` aborts, when the source ends, or after 5 seconds if the source
 * is not live.
 *
 * Rejects with FlarewireError `invalid-setting` when it cannot listen, and with the error of a part
 * that cannot be opened. It then closes all that it opened, but not `persistence`.
 */
export async function runGateway(run: GatewayRun): Promise<Gateway> {
  const { settings } = run;
  const keys = await openKeys(settings, run);
  let opened: OpenSource | undefined;
  let gateway: OpenedGateway | undefined;
  try {
    // Before the source and the log: a start that fails must not have begun anything.
    for (const extension of run.extensions ?? []) await extension.check?.(settings);
    opened = run.openSource();
    gateway = await openGateway(run, keys, opened);
    return await serveGateway(run, gateway);
  } catch (error) {
    keys.stop();
    await gateway?.extensions.close();
    await opened?.close?.();
    throw error;
  }
}

/** The opened parts of a gateway. */
interface OpenedGateway {
  readonly keys: Keys;
  readonly opened: OpenSource;
  readonly prepared: RunnableSource;
  readonly head: Head;
  readonly hub: Hub;
  readonly extensions: OpenExtensions;
  readonly freshness: () => Freshness;
  /** Reports its trouble from now on. */
  readonly report: (frontend: Frontend) => void;
}

async function openGateway(run: GatewayRun, keys: Keys, opened: OpenSource): Promise<OpenedGateway> {
  const { settings, clock, logger, persistence, tasks, extensions: listed = [] } = run;
  const openStore: OpenStore = run.openStore ?? ((_file, _what, open) => open());
  const { source, resume } = opened;
  const prepared = prepareSource(opened, persistence);
  const { log } = prepared;
  const head = new Head({
    log,
    ...(resume ? { initial: resume } : {}),
    onError: (error) => logger.error({ err: error }, "listener of the head failed"),
  });
  const reporters: { readonly trouble?: string | undefined }[] = [persistence, keys];
  const freshness = () => freshnessOf(opened, clock, reporters);
  const info = () => source.info;
  const hub = createHub(run, opened, prepared, head, freshness);
  const { policy, registry } = keys;
  const access = { policy, limiter: registry.limiter };
  const own = { ...access, settings, head, hub, log, clock, logger, info, freshness, openStore, tasks };
  const extensions = await openExtensions(listed, own);
  for (const { trouble } of extensions.opened)
    if (trouble)
      reporters.push({
        get trouble() {
          return trouble();
        },
      });
  // After the log's trouble, before that of the keys.
  const report = (frontend: Frontend) => void reporters.splice(1, 0, frontend);
  return { keys, opened, prepared, head, hub, extensions, freshness, report };
}

async function serveGateway(run: GatewayRun, gateway: OpenedGateway): Promise<Gateway> {
  const { settings, clock, logger, persistence, signal } = run;
  const { keys, opened, prepared, head, hub, extensions, freshness } = gateway;
  const { policy, registry } = keys;
  const { log } = prepared;
  const info = () => opened.source.info;
  const events = new GatewayEvents((error) => logger.error({ err: error }, "listener of the gateway failed"));
  const counts = createHttpCounts(clock, logger);
  const measured = { hub, head, log, freshness, opened, persistence, keys, ...counts };
  const metrics = await openMetrics(settings, { ...measured, further: extensions.metrics });
  const polling = new AbortController();
  let draining = false;
  const [answerUnknown] = extensions.opened.flatMap((one) => one.answerUnknown ?? []);
  const [past] = extensions.opened.flatMap((one) => one.past ?? []);
  const sockets = extensions.opened.flatMap((one) => one.sockets ?? []);
  const frontend = await run.openFrontend({
    head,
    freshness,
    info,
    lag: opened.lag,
    clock,
    policy,
    logger,
    past,
    answerUnknown,
    ...counts,
    ready: () => !draining,
    perTurn: () => (hub.counters.admissionsWaiting < CROWD ? 4 : 1),
    limitStreams: (max) => registry.limiter.lower(max),
    isStaleReady: () => opened.kind === "follower" && opened.isStaleReady?.() === true,
    settings: { ...settings, closeGraceMs: HTTP_CLOSE_MS },
    register: async (scope: RouteScope) => {
      const admissions = new AdmissionQueue({ hub, clock });
      const { allowedOrigins, compression } = settings;
      const shared = { hub, clock, registry, policy, allowedOrigins, admissions };
      await extensions.routes(scope);
      await registerWebSocket(scope.app, { ...shared, compression, sockets });
      if (metrics && !hasOwnMetricsPort(settings)) {
        const { registerMetrics } = await import("../http/metrics-route.ts");
        registerMetrics(scope.app, metrics);
      }
      registerEvents(scope.app, { ...shared, log, head, freshness, info });
    },
  });
  gateway.report(frontend);
  const onPublished = (batch: readonly EventBody[]) => events.emitBatch(batch, formatCursor(head.cursor));
  const targets = { head, hub, clock, logger, onPublished, ...(metrics ? { onPoll: metrics.polled } : {}) };
  const listening = await listenWithMetrics(settings, metrics, counts.refusals, logger, frontend.listen);
  const polled = prepared.run({ ...targets, signal: polling.signal });
  await firstSnapshot(run, opened, head, polled, signal ?? polling.signal);
  extensions.start(polling.signal);
  const reportSource = () => logSource(opened, logger);
  if (!signal?.aborted) void reportStart(opened, reportSource, clock, polling.signal);
  const unwatch = watchFreshness({
    freshness,
    clock,
    onChange: (event) => {
      reportSource();
      prepared
        .publish?.({ events: [event] }, targets)
        .catch((error) => logger.error({ err: error }, "failed to publish the status"));
    },
  });

  const stop = async () => {
    draining = true;
    frontend.retire();
    logRejections(opened, logger);
    polling.abort(new Error("stopping"));
    unwatch();
    keys.stop();
    await polled;
    await opened.close?.();
    await extensions.finish();
    // The grace period of sessions that do not answer their close is part of the drain time.
    await hub.drain(Math.max(0, settings.drainMs - hub.limits.closeGraceMs));
    await frontend.close();
    await extensions.close();
    await listening.close();
    metrics?.close();
    await persistence.close();
  };
  let stopped: Promise<void> | undefined;
  const { url, metricsUrl } = listening;
  return { url, metricsUrl, events, head, freshness, stop: () => (stopped ??= stop()) };
}

async function firstSnapshot(
  { clock, onWarmup = () => {} }: GatewayRun,
  opened: OpenSource,
  head: Head,
  polled: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (head.ready) return;
  const { source } = opened;
  const warmedUp = opened.kind === "snapshots" ? opened.warmedUp : undefined;
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
  { settings: { heartbeatMs }, clock, logger }: GatewayRun,
  { source, resume }: OpenSource,
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
