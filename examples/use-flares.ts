// What flares now, in a page made with React: all components share one connection, which the first opens and the last closes. Where
// a server renders the page there is none. Copy it into your own sources, beside flarewire and react 18 or newer.
//
//   const { flares, explanations, connection, source } = useFlares("http://127.0.0.1:8080");
//
// Names come from strangers: React shows them as text; what of them becomes an address (href, src) is yours to check.

import { type ConnectionStatus, connect, type DataFreshness, type Stream, type View } from "flarewire/client";
import { useSyncExternalStore } from "react";

/** A new object for each change, and never changed: its parts may be compared, and memoised on. */
export interface Flares {
  /** Newest first. */
  readonly flares: NonNullable<NonNullable<View["flares"]>["pro"]>;
  /** Why each of them flares, by its id. */
  readonly explanations: View["explanations"];
  /** Unless it is `live`, what is shown may be old; `closed` with a reason: the server refuses this page. */
  readonly connection: ConnectionStatus["state"];
  readonly reason: string;
  /** Of the server's data: `live`, `stale` or `down`; `undefined` before it was said. */
  readonly source: DataFreshness["state"] | undefined;
}

const NOTHING: Flares = {
  flares: [],
  explanations: {},
  connection: "connecting",
  reason: "",
  source: undefined,
};
/** StrictMode and a change of pages leave and come back: so long the connection is kept. */
const LINGER_MS = 200;

const stores = new Map<string, ReturnType<typeof createStore>>();

/** What flares on this server, kept up to date; the same object until something changes. */
export function useFlares(server: string): Flares {
  const store = stores.get(server) ?? createStore(server);
  stores.set(server, store);
  return useSyncExternalStore(store.subscribe, store.shown, () => NOTHING);
}

function createStore(server: string) {
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
    const stream = connect(server, { channels: ["flares.pro", "status"] });
    for (const name of ["reset", "event", "connection"] as const) stream.on(name, () => show(stream));
    // The connection says it too, but an error that nobody hears is thrown.
    stream.on("error", () => show(stream));
    // A heartbeat may tell of the source what no event does.
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
