/**
 * The page's service worker. It shows push messages, reacts to clicks on notifications, and
 * stores nothing: old data would look like current data.
 */
declare const self: ServiceWorkerGlobalScope;

self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => event.waitUntil(show(event.data)));

/** Shows a push message. Each must be shown, or the browser ends the subscription. */
async function show(data: PushMessageData | null): Promise<void> {
  const message: unknown = data?.json();
  const text = (name: string) => String(Object(message)[name] ?? "");
  await self.registration.showNotification(text("title") || "Flarewire", {
    body: text("body"),
    tag: text("tag") || "flarewire",
    icon: "./icon-192.png",
    data: { path: text("path") },
  });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(pathOf(event.notification.data)));
});

/** Shows the page at this path, in an open tab of the dashboard if there is one. */
async function open(path: string): Promise<void> {
  const { scope } = self.registration;
  const url = new URL(path, scope).href;
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find((one) => one.url.replace(/#.*$/, "") === scope);
  if (!tab) await self.clients.openWindow(url);
  else await Promise.allSettled([tab.focus(), tab.navigate(url)]);
}

/**
 * Returns the notification's path if it begins like a path of the dashboard or of a flare's or
 * token's page, else `#/now`. So a push message cannot lead to another site.
 */
function pathOf(data: unknown): string {
  const path = typeof data === "object" && data !== null && "path" in data ? String(data.path) : "";
  return /^(?:#\/|flare\/|token\/)/.test(path) ? path : "#/now";
}

export {};
