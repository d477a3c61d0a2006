import { join } from "node:path";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Probe } from "../../base/lib/probe.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { type ExtensionContext, extension, type OpenExtension } from "../../gateway/start/index.ts";
import { formAlert } from "./alert.ts";
import { alertMetrics } from "./alert-metrics.ts";
import { ALERT_SETTINGS, type AlertSettings } from "./alert-settings.ts";
import { type Alerts, type RunningAlerts, startAlerts } from "./alerts.ts";
import type { Outcome } from "./delivery/delivery-plan.ts";
import { PushAlerts } from "./push/push-alerts.ts";
import { PUSH_CHANNELS, registerPush } from "./push/push-route.ts";
import { openPushStore } from "./push/push-store.ts";
import { openVapidKey } from "./push/vapid-key.ts";
import { openAlertCopy } from "./store/alert-copy.ts";
import { openAlertStore } from "./store/alert-store.ts";
import { openTargets, readAlertFile } from "./targets/alert-file.ts";

type Context = ExtensionContext<AlertSettings>;

interface AlertsOptions {
  /** Allows push services on this machine, without TLS, for tests. Default false. */
  readonly isLocalPush?: boolean;
}

/** Sends matches of rules to webhooks, chats, MQTT brokers and, by web push, to browsers. */
export const alerts = createAlertsExtension();

/** Creates the extension {@link alerts}. */
export function createAlertsExtension({ isLocalPush = false }: AlertsOptions = {}) {
  return extension({
    name: "alerts",
    settings: ALERT_SETTINGS,
    openCopy: openAlertCopy,
    checks: alertChecks,
    check: async ({ alerts: file }) => {
      if (file !== undefined) await readAlertFile(file);
    },
    open: (context) => openAlerts(context, isLocalPush),
  });
}

async function openAlerts(context: Context, isLocalPush: boolean): Promise<OpenExtension> {
  const { settings, clock, logger, policy, tasks } = context;
  const { alerts: file, push: contact } = settings;
  const withRoutes = (push?: PushAlerts): Pick<OpenExtension, "routes"> => ({
    routes: ({ app }) => registerPush(app, { push, policy, allowedOrigins: settings.allowedOrigins }),
  });
  if (file === undefined && contact === undefined) return withRoutes();
  const targets = file === undefined ? [] : openTargets(await readAlertFile(file), clock);
  const rules = targets.reduce((sum, target) => sum + target.rules.length, 0);
  if (file !== undefined) logger.info({ file, targets: targets.length, rules }, "sending alerts");
  const { log, head, hub } = context;
  const { history, turn } = hub;
  const own = { targets, clock, logger, publicUrl: settings.publicUrl, log, head, history, turn };
  let running: Alerts | undefined;
  const metrics = alertMetrics(() => running?.stats() ?? {});
  if (tasks) {
    let task: { stop(): Promise<void> } | undefined;
    const start = () => {
      task = tasks.run({
        openCopy: openAlertCopy,
        start: ({ store }, beforeAttempt) => {
          const started = startAlerts({ ...own, store, beforeAttempt });
          running = started;
          const stop = () => {
            // A node that no longer leads has no alerts to count.
            if (running === started) running = undefined;
            return started.stop();
          };
          return { stop };
        },
      });
    };
    return { ...withRoutes(), metrics, start, finish: async () => task?.stop() };
  }
  const push = contact === undefined ? undefined : await openPush(contact, context, isLocalPush);
  if (settings.data === "none")
    logger.warn("pending alerts will not survive a restart: there is no data directory");
  const store = context.openStore("alerts", "pending alerts", (path) =>
    openAlertStore(path, notifyLog(logger)),
  );
  return {
    ...withRoutes(push),
    metrics,
    start: () => {
      const started: RunningAlerts = startAlerts({ ...own, store, others: push?.targets });
      push?.start(started);
      running = started;
    },
    finish: async () => running?.stop(),
    close: () => {
      // Running alerts close their store themselves.
      if (!running) store.close();
      push?.close();
    },
  };
}

/**
 * Opens the push subscriptions and the server's key. Without a data directory, both are new and in
 * memory.
 */
async function openPush(contact: string, context: Context, allowPrivate: boolean): Promise<PushAlerts> {
  const { settings, logger, clock, policy } = context;
  const isStored = settings.data !== "none";
  if (!isStored) logger.warn("push subscriptions end with this process: there is no data directory");
  const keyFile = isStored ? join(settings.data, "push-key.pem") : undefined;
  const key = await openVapidKey(keyFile, () =>
    logger.warn({ file: keyFile }, "made the push key private: other users could read it"),
  );
  const store = context.openStore("push", "push subscriptions", (path) =>
    openPushStore(path, notifyLog(logger)),
  );
  const isFree = settings.keys !== undefined || settings.jwtIssuer !== undefined;
  const isAdmitted = (holder: string | undefined, channels: readonly string[]) =>
    policy.isAdmitted(holder, [...PUSH_CHANNELS, ...channels]);
  return new PushAlerts({ store, key, contact, isFree, isAdmitted, allowPrivate, clock, logger });
}

/**
 * Tests the targets of an alert file, for `flarewire doctor`: sends each a message that says that
 * it is a test. Omits MQTT brokers: a second client with the same id would end the server's
 * connection. Rejects with InputError if the file is invalid.
 */
export async function alertChecks(file: string, clock: Clock): Promise<readonly Probe[]> {
  const targets = openTargets({ ...(await readAlertFile(file)), mqtt: [] }, clock);
  return targets.map(({ id, deliver }) => ({
    service: id,
    what: "message",
    run: async (signal) => {
      const nowMs = clock.now();
      const content = { type: "test", key: String(nowMs), data: {} };
      const outcome = await deliver(formAlert(id, "doctor", content, nowMs), signal);
      if (outcome.kind === "delivered") return "accepted a test message";
      throw new Error(`did not accept a test message: ${reasonOf(outcome)}`);
    },
  }));
}

function reasonOf(outcome: Exclude<Outcome, { kind: "delivered" }>): string {
  if (outcome.kind === "gone") return "it returned 410, so it wants no messages";
  return outcome.kind === "moved" ? `it has moved to ${outcome.address}` : outcome.reason;
}
