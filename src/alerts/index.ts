/** Alerts: rules that read the log, and webhooks that receive the matches. */

export { type Alerts, type AlertsOptions, startAlerts, type WebhookStats } from "./alerts.ts";
export { readAlertFile } from "./rules/alert-file.ts";
export { type AlertCopy, openAlertCopy } from "./store/alert-copy.ts";
export type { AlertStore } from "./store/alert-store.ts";
export { openSqliteAlertStore } from "./store/sqlite-alert-store.ts";
export { postWebhook, type WebhookPost } from "./webhooks/post-webhook.ts";
