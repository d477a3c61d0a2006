import { alertTexts } from "./alert-texts.ts";
import type { AlertHit } from "./alert-watch.ts";
import { notifyAccess, registerWorker } from "./notify.ts";

/**
 * Shows the alerts, if the visitor allows it. A notification replaces an earlier one with the same
 * tag.
 */
export async function showNotifications(server: URL, hits: readonly AlertHit[]): Promise<void> {
  if (hits.length === 0 || notifyAccess() !== "granted") return;
  const registration = await registerWorker(server);
  const icon = new URL("icon-192.png", server).href;
  for (const { title, body, tag, path } of alertTexts(hits))
    await registration.showNotification(title, { body, tag, icon, data: { path } });
}
