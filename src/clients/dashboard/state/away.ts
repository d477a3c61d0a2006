import type { ConnectionStatus } from "../../sdk/index.ts";

/** Shorter interruptions are not shown, because a restarted server is usually back by then. */
const SOON_BACK_MS = 3_000;

/** How long a stream has been without a connection. */
interface Away {
  /**
   * Takes the connection's new state. Returns whether the connection has just become `live`, also
   * the first time.
   */
  readonly note: (state: ConnectionStatus["state"]) => boolean;
  /**
   * Milliseconds without a connection, not counting an earlier pause; 0 while connected and in the
   * first three seconds without.
   */
  readonly nowMs: () => number;
}

export function measureAway(): Away {
  let sinceMs: number | undefined = performance.now();
  let isPaused = false;
  return {
    note: (state) => {
      const isBack = state === "live" && sinceMs !== undefined;
      // A pause does not count: the tab was hidden.
      if (isPaused || sinceMs === undefined) sinceMs = performance.now();
      if (state === "live") sinceMs = undefined;
      isPaused = state === "paused";
      return isBack;
    },
    nowMs: () => {
      const awayMs = sinceMs === undefined ? 0 : performance.now() - sinceMs;
      return awayMs > SOON_BACK_MS ? awayMs : 0;
    },
  };
}
