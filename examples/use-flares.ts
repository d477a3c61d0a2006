// The current flares, in a page made with React. All components share one connection, which the
// first one opens and the last one closes. Server rendering opens none. Copy it into your own
// sources, next to flarewire and react 18 or newer.
//
//   const { flares, explanations, connection, source } = useFlares("http://127.0.0.1:8080");
//
// A server with keys: useFlares(server, key). Everybody who opens the page can read a key in its
// sources; better is a function, outside the component, that gets one from your own server.
//
// Token names are untrusted: React shows them as text, but check them before you use them in an
// address (href, src).

import {
  type ConnectionStatus,
  type ConnectOptions,
  connect,
  type DataFreshness,
  type Stream,
  type View,
} from "flarewire/client";
import { useSyncExternalStore } from "react";

/** A new immutable object for each change, so parts can be compared and memoized. */
export interface Flares {
  /** Newest first. */
  readonly flares: NonNullable<NonNullable<View["flares"]>["pro"]>;
  /** The reason for each flare, by its id. */
  readonly explanations: View["explanations"];
  /** Unless `live`, the data may be old; `closed` with a reason: the server rejects this page. */
  readonly connection: ConnectionStatus["state"];
  readonly reason: string;
  /** State of the server's data: `live`, `stale` or `down`; `undefined` at first. */
  readonly source: DataFreshness["state"] | undefined;
}

const NOTHING: Flares = {
  flares: [],
  explanations: {},
  connection: "connecting",
  reason: "",
  source: undefined,
};
/** StrictMode and page changes unmount and mount again. The connection stays open for this long. */
const LINGER_MS = 200;

type Key = ConnectOptions["key"];
const stores = new Map<string, Map<Key, ReturnType<typeof createStore>>>();

/** Returns the server's current flares; the same object until something changes. */
export function useFlares(server: string, key?: Key): Flares {
  const byKey: NonNullable<ReturnType<(typeof stores)["get"]>> = stores.get(server) ?? new Map();
  stores.set(server, byKey);
  const store = byKey.get(key) ?? createStore(server, key);
  byKey.set(key, store);
  return useSyncExternalStore(store.subscribe, store.shown, () => NOTHING);
}

function createStore(server: string, key: Key) {
  const listeners = new Set<() => void>();
  let shown = NOTHING;
  let close: (() => void) | undefined;

  const show = (stream: Stream) => {
    const { state: connection, reason } = stream.connection;
    const { flares, explanations = {} } = stream.view ?? {};
    shown = {
      flares: flares?.pro ?? [],
      explanations,
      connection,
      reason,
      source: stream.freshness?.state,
    };
    for (const listener of listeners) listener();
  };

  const open = () => {
    const stream = connect(server, { channels: ["flares.pro", "status"], ...(key && { key }) });
    for (const name of ["reset", "event", "connection"] as const) stream.on(name, () => show(stream));
    // `connection` reports it too, but an error without a listener would throw.
    stream.on("error", () => show(stream));
    // A heartbeat may change the freshness without an event.
    const look = setInterval(() => stream.freshness?.state !== shown.source && show(stream), 1_000);
    return () => {
      clearInterval(look);
      stream.close();
      shown = NOTHING;
      close = undefined;
    };
  };

  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    close ??= open();
    return () => {
      listeners.delete(listener);
      setTimeout(() => listeners.size === 0 && close?.(), LINGER_MS);
    };
  };
  return { subscribe, shown: () => shown };
}
