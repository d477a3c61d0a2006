import { join } from "node:path";
import type { Config } from "../../app/config/config.ts";
import { notifyLog } from "../../base/lib/notify.ts";
import { type AccessPolicy, PUSH_CHANNELS } from "../../gateway/http/index.ts";
import { openStore, type PersistenceOptions } from "../../gateway/persistence/persistence.ts";
import type { ClusterAlerts } from "../../scale/cluster/node/cluster-alerts.ts";
import {
  type Alerts,
  type AlertsOptions,
  openAlertStore,
  openPushStore,
  openTargets,
  openVapidKey,
  PushAlerts,
  readAlertFile,
  startAlerts,
} from "./index.ts";

type AlertsConfig = PersistenceOptions["config"] &
  Pick<Config, "alerts" | "push" | "keys" | "jwtIssuer" | "publicUrl">;
type AlertsOpening = PersistenceOptions & {
  readonly config: AlertsConfig;
  /** Decides whether the key behind a push subscription still permits it. */
  readonly policy: AccessPolicy;
};

export interface OpenAlerts {
  /** Push subscriptions, if the server has them. */
  readonly push?: PushAlerts | undefined;
  /** Starts delivery, once. {@link Alerts.stop} of the result also closes what was opened. */
  start(parts: Pick<AlertsOptions, "log" | "head" | "history" | "turn">): Alerts;
  /** Closes what was opened. Call it only if delivery was not started. */
  close(): void;
}

/**
 * Opens targets and pending alerts, if configured. Open the log first: it locks the directory.
 *
 * @param cluster Holds the pending alerts instead. Then there is no push. Default: none.
 * @param isLocalPush Allows push services on this machine, for tests. Default: no.
 */
export async function openAlerts(
  options: AlertsOpening,
  cluster?: ClusterAlerts,
  isLocalPush = false,
): Promise<OpenAlerts | undefined> {
  const { clock, logger } = options;
  const { alerts: file, push: contact } = options.config;
  if (file === undefined && contact === undefined) return undefined;
  const targets = file === undefined ? [] : openTargets(await readAlertFile(file), clock);
  const rules = targets.reduce((sum, target) => sum + target.rules.length, 0);
  if (file !== undefined) logger.info({ file, targets: targets.length, rules }, "sending alerts");
  const own = { targets, clock, logger, publicUrl: options.config.publicUrl };
  if (cluster) {
    const start: OpenAlerts["start"] = (parts) =>
      cluster.start((store, beforeAttempt) => startAlerts({ ...parts, ...own, store, beforeAttempt }));
    return { start, close: () => {} };
  }
  const push = contact === undefined ? undefined : await openPush(contact, options, isLocalPush);
  if (options.config.data === "none")
    logger.warn("pending alerts will not survive a restart: there is no data directory");
  const store = openStore("alerts", (path) => openAlertStore(path, notifyLog(logger)), options);
  const start: OpenAlerts["start"] = (parts) => {
    const alerts = startAlerts({ ...parts, ...own, store, others: push?.targets });
    push?.start(alerts);
    return { stats: alerts.stats, stop: () => alerts.stop().finally(() => push?.close()) };
  };
  const close = () => {
    store.close();
    push?.close();
  };
  return { start, close, push };
}

/**
 * Opens the push subscriptions and the server's key. Without a data directory, both are new and in
 * memory.
 */
async function openPush(contact: string, options: AlertsOpening, allowPrivate: boolean): Promise<PushAlerts> {
  const { config, logger, clock, policy } = options;
  const isStored = config.data !== "none";
  if (!isStored) logger.warn("push subscriptions end with this process: there is no data directory");
  const keyFile = isStored ? join(config.data, "push-key.pem") : undefined;
  const key = await openVapidKey(keyFile, () =>
    logger.warn({ file: keyFile }, "made the push key private: other users could read it"),
  );
  const store = openStore("push", (path) => openPushStore(path, notifyLog(logger)), options);
  const isFree = config.keys !== undefined || config.jwtIssuer !== undefined;
  const isAdmitted = (holder: string | undefined, channels: readonly string[]) =>
    policy.isAdmitted(holder, [...PUSH_CHANNELS, ...channels]);
  return new PushAlerts({ store, key, contact, isFree, isAdmitted, allowPrivate, clock, logger });
}
