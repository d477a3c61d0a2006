/** The visitor's decision on notifications, or why the page cannot ask for one. */
export type NotifyAccess = NotificationPermission | "insecure" | "home-screen" | "unsupported";

export function notifyAccess(): NotifyAccess {
  if (!isSecureContext) return "insecure";
  if ("Notification" in globalThis && "serviceWorker" in navigator) return Notification.permission;
  // Safari on a phone has notifications only for pages on the home screen.
  return "standalone" in navigator ? "home-screen" : "unsupported";
}

/**
 * Asks an undecided visitor for permission, which browsers allow only after a click. If
 * notifications are allowed, registers the worker. Resolves with the access after that.
 */
export async function askToNotify(server: URL): Promise<NotifyAccess> {
  if (notifyAccess() === "default") await Notification.requestPermission();
  if (notifyAccess() === "granted") await registerWorker(server);
  return notifyAccess();
}

/**
 * Registers the worker that shows notifications and reacts to clicks, for all pages of the server.
 * Resolves once it is active.
 */
export async function registerWorker(server: URL): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(new URL("worker.js", server));
  return await navigator.serviceWorker.ready;
}
