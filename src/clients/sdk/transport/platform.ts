/** The part of a WebSocket that the SDK uses. Browsers, Node 22 and the package `ws` have it. */
export interface SocketLike {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: ((event: unknown) => void) | null;
  close(): void;
}

export type SocketClass = new (url: string, protocol: string) => SocketLike;

/** The SDK's environment. Missing parts are taken from the global scope. */
export interface Platform {
  readonly WebSocket?: SocketClass | undefined;
  readonly fetch: typeof fetch;
  /** If present, its `visibilitychange` events report whether the page is visible. */
  readonly document?: (EventTarget & { readonly hidden: boolean }) | undefined;
  /** If present, its `online` events report that the network is back. */
  readonly window?: EventTarget | undefined;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Calls `fn` after `ms`; Infinity means never. Returns a function that cancels it. */
  readonly after: (ms: number, fn: () => void) => () => void;
  /** Yields [0, 1) for jitter and the client id. */
  readonly random: () => number;
}

/** Returns the global environment with overrides. */
export function platformOf(given?: Partial<Platform>): Platform {
  const { WebSocket, document, window } = globalThis as Partial<Platform>;
  return {
    WebSocket,
    fetch,
    document,
    window,
    now: () => performance.now(),
    after: (ms, fn) => {
      // Longer timers would fire at once.
      const timer = ms < 2 ** 31 ? setTimeout(fn, ms) : undefined;
      return () => clearTimeout(timer);
    },
    random: Math.random,
    ...given,
  };
}
