/** Alerts: rules that look at the log, and webhooks that are told what they find. */
export { readAlertFile, type Webhook } from "./alert-file.ts";
export type { AlertStore } from "./alert-store.ts";
export { type Alerts, type AlertsOptions, startAlerts, type WebhookStats } from "./alerts.ts";
export { createMemoryAlertStore } from "./memory-alert-store.ts";
export { openSqliteAlertStore } from "./sqlite-alert-store.ts";
