/** Alerts: rules that read the log, and targets that receive the matches. */

export { formAlert } from "./alert.ts";
export { type Alerts, type AlertsOptions, startAlerts, type TargetStats } from "./alerts.ts";
export { alerts, createAlertsExtension } from "./alerts-extension.ts";
export { PushAlerts } from "./push/push-alerts.ts";
export { openPushStore } from "./push/push-store.ts";
export { openVapidKey } from "./push/vapid-key.ts";
export { type AlertCopy, openAlertCopy } from "./store/alert-copy.ts";
export { type AlertStore, openAlertStore } from "./store/alert-store.ts";
export { openTargets, readAlertFile } from "./targets/alert-file.ts";
