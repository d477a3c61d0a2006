import {
  type AlertStore,
  type Alerts,
  type AlertsOptions,
  createMemoryAlertStore,
  openSqliteAlertStore,
  readAlertFile,
  startAlerts,
} from "../../alerts/index.ts";
import { type KeptOptions, keptPath } from "../persistence/persistence.ts";

/** Webhooks that are known, and not told of anything yet. */
export interface OpenAlerts {
  /** Once; its {@link Alerts.stop} closes what was opened. */
  start(parts: Pick<AlertsOptions, "log" | "head" | "history" | "turn">): Alerts;
  /** In place of {@link Alerts.stop} when nothing was started. */
  close(): void;
}

/**
 * The webhooks that the config names, with what waits for them; `undefined` when it names none. Rejects with InputError when the file cannot be used. To be called after the log was opened: the
 * data directory is then there, and this process's own.
 */
export async function openAlerts(options: KeptOptions): Promise<OpenAlerts | undefined> {
  const { config, clock, logger } = options;
  if (config.alerts === undefined) return undefined;
  const webhooks = await readAlertFile(config.alerts);
  const store = openStore(options);
  const rules = webhooks.reduce((sum, webhook) => sum + webhook.rules.length, 0);
  logger.info({ file: config.alerts, webhooks: webhooks.length, rules }, "alerts are sent");
  return {
    start: (parts) => startAlerts({ ...parts, webhooks, store, clock, logger }),
    close: () => store.close(),
  };
}

function openStore(options: KeptOptions): AlertStore {
  const { config, logger } = options;
  const warn = (why: string) => logger.warn(`what waits for a webhook is gone when the process ends: ${why}`);
  if (config.data === "none") {
    warn("there is no data directory");
    return createMemoryAlertStore();
  }
  const path = keptPath(options, "alerts");
  try {
    return openSqliteAlertStore(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    warn(`${path} cannot be used (${reason})`);
  }
  return createMemoryAlertStore();
}
