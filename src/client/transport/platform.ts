/** What is used of a WebSocket: that of browsers, of Node from 22 on, and of the package `ws`. */
export interface SocketLike {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: unknown) => void) | null;
  close(): void;
}

/** A class of such sockets. */
export type SocketClass = new (url: string, protocol: string) => SocketLike;

/** What the SDK needs of the world. What is not given is taken from the global scope. */
export interface Platform {
  readonly WebSocket?: SocketClass | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Where there is one, it tells by `visibilitychange` whether anybody looks. */
  readonly document?: (EventTarget & { readonly hidden: boolean }) | undefined;
  /** Where there is one, it tells by `online` that the network is back. */
  readonly window?: EventTarget | undefined;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Calls `fn` after `ms`, which may be Infinity: never; the result undoes it. */
  readonly after: (ms: number, fn: () => void) => () => void;
  /** From 0 up to 1, for jitter and the client's id. */
  readonly random: () => number;
}

/** The global scope's, with what is given in its place. */
export function platformOf(given?: Partial<Platform>): Platform {
  const { WebSocket, fetch, document, window } = globalThis as Partial<Platform>;
  return {
    WebSocket,
    fetch,
    document,
    window,
    now: () => performance.now(),
    after: (ms, fn) => {
      // For a longer time than timers know they would fire at once.
      const timer = ms < 2 ** 31 ? setTimeout(fn, ms) : undefined;
      return () => clearTimeout(timer);
    },
    random: Math.random,
    ...given,
  };
}
