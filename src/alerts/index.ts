/** Alerts: rules that read the log, and webhooks that receive the matches. */

export { type Alerts, type AlertsOptions, startAlerts, type WebhookStats } from "./alerts.ts";
export { PushAlerts } from "./push/push-alerts.ts";
export { openPushStore } from "./push/push-store.ts";
export { openVapidKey } from "./push/vapid-key.ts";
export { readAlertFile } from "./rules/alert-file.ts";
export { type AlertCopy, openAlertCopy } from "./store/alert-copy.ts";
export type { AlertStore } from "./store/alert-store.ts";
export { openSqliteAlertStore } from "./store/sqlite-alert-store.ts";
export { postWebhook, type WebhookPost } from "./webhooks/post-webhook.ts";
