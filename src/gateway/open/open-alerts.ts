import {
  type AlertStore,
  type Alerts,
  type AlertsOptions,
  openSqliteAlertStore,
  readAlertFile,
  startAlerts,
} from "../../alerts/index.ts";
import { messageOf } from "../../lib/text/message-of.ts";
import type { ClusterAlerts } from "../cluster/cluster-alerts.ts";
import { type PersistenceOptions, storedPath } from "../persistence/persistence.ts";

export interface OpenAlerts {
  /** Starts delivery, once. Its {@link Alerts.stop} closes what was opened. */
  start(parts: Pick<AlertsOptions, "log" | "head" | "history" | "turn">): Alerts;
  /** Closes without {@link Alerts.stop} if delivery was not started. */
  close(): void;
}

/**
 * Opens webhooks and pending alerts, if configured. Open the log first: it locks the directory.
 *
 * @param cluster Holds the pending alerts instead. Default: none.
 */
export async function openAlerts(
  file: string | undefined,
  options: PersistenceOptions,
  cluster?: ClusterAlerts,
): Promise<OpenAlerts | undefined> {
  const { clock, logger } = options;
  if (file === undefined) return undefined;
  const webhooks = await readAlertFile(file);
  const rules = webhooks.reduce((sum, webhook) => sum + webhook.rules.length, 0);
  logger.info({ file, webhooks: webhooks.length, rules }, "sending alerts");
  const own = { webhooks, clock, logger, publicUrl: options.config.publicUrl };
  if (cluster) {
    const start: OpenAlerts["start"] = (parts) =>
      cluster.start((store, post) => startAlerts({ ...parts, ...own, store, sender: { post } }));
    return { start, close: () => {} };
  }
  const store = openStore(options);
  return { start: (parts) => startAlerts({ ...parts, ...own, store }), close: () => store.close() };
}

function openStore(options: PersistenceOptions): AlertStore {
  const { config, logger } = options;
  const warn = (why: string) => logger.warn(`pending alerts will not survive a restart: ${why}`);
  if (config.data === "none") {
    warn("there is no data directory");
    return openSqliteAlertStore();
  }
  const path = storedPath(options, "alerts");
  try {
    return openSqliteAlertStore(path);
  } catch (error) {
    const reason = messageOf(error);
    warn(`${path} cannot be used (${reason})`);
  }
  return openSqliteAlertStore();
}
