import { channelOf, type FlareQuery, filterOf } from "../flare-query.ts";
import { isPushable } from "../select-flares.ts";
import { keyHeader } from "../visitor/fetch-with-key.ts";
import { alertTexts } from "./alert-texts.ts";
import type { AlertHit } from "./alert-watch.ts";

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
async function registerWorker(server: URL): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(new URL("worker.js", server));
  return await navigator.serviceWorker.ready;
}

const urlOf = (server: URL) => new URL("push", server);

/** Whether the server and this browser can push. */
export async function canPush(server: URL): Promise<boolean> {
  return "PushManager" in globalThis && isSecureContext && (await fetchPublicKey(server)) !== undefined;
}

/**
 * Returns the server's public key for push; `undefined` if it does not push or the request fails.
 */
async function fetchPublicKey(server: URL): Promise<string | undefined> {
  try {
    const { public_key } = await (await fetch(urlOf(server))).json();
    return typeof public_key === "string" ? public_key : undefined;
  } catch {
    return undefined;
  }
}

/** What to push, the server, and the visitor's key. */
interface Wanted {
  readonly server: URL;
  readonly queries: readonly FlareQuery[];
  readonly key: string | undefined;
}

/**
 * Asks the visitor for permission, subscribes, and sends the rules. Resolves with whether every
 * step succeeded. If the rules cannot be sent, ends the subscription.
 */
export async function startPush(wanted: Wanted): Promise<boolean> {
  try {
    if ((await askToNotify(wanted.server)) !== "granted") return false;
    const applicationServerKey = await fetchPublicKey(wanted.server);
    if (applicationServerKey === undefined) return false;
    const { pushManager } = await registerWorker(wanted.server);
    await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
    await updatePush(wanted);
    return true;
  } catch {
    // The server may have stored the rules although its response was lost.
    await stopPush(wanted).catch(() => {});
    return false;
  }
}

/**
 * Sends the queries that the server can filter by as rules; if there are none, deletes the
 * subscription at the server. Does nothing if this browser has no subscription. Rejects if the
 * request fails or the server refuses.
 */
export async function updatePush({ server, queries, key }: Wanted): Promise<void> {
  const subscription = await (await registerWorker(server)).pushManager.getSubscription();
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  const rules = queries
    .filter(isPushable)
    .map((query) => ({ channel: channelOf(query), filter: filterOf(query) }));
  const { ok, status } =
    rules.length > 0
      ? await send(server, "PUT", key, { endpoint, keys, rules })
      : await send(server, "DELETE", key, { endpoint });
  if (!ok) throw new Error(`the server returned ${status}`);
}

/**
 * Ends the subscription, here and at the server. Ignores a refusal. If the request fails, rejects,
 * but still ends it here: then the server's pushes fail.
 */
export async function stopPush({ server, key }: Omit<Wanted, "queries">): Promise<void> {
  const subscription = await (await registerWorker(server)).pushManager.getSubscription();
  if (!subscription) return;
  try {
    await send(server, "DELETE", key, { endpoint: subscription.endpoint });
  } finally {
    await subscription.unsubscribe();
  }
}

function send(
  server: URL,
  method: "PUT" | "DELETE",
  key: string | undefined,
  body: object,
): Promise<Response> {
  return fetch(urlOf(server), {
    method,
    headers: { ...keyHeader(key), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

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
