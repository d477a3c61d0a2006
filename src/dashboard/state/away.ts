import type { ConnectionStatus } from "../../client/index.ts";

/** Shorter interruptions are not shown, because a restarted server is back by then. */
const SOON_BACK_MS = 3_000;

/** How long a stream has been without a connection. */
export interface Away {
  /** Takes the connection's state. Returns whether the stream has just come back. */
  readonly note: (state: ConnectionStatus["state"]) => boolean;
  /** Milliseconds without a connection; 0 while connected and for a moment after. */
  readonly nowMs: () => number;
}

export function measureAway(): Away {
  let sinceMs: number | undefined = performance.now();
  let isPaused = false;
  return {
    note: (state) => {
      const isBack = state === "live" && sinceMs !== undefined;
      // While the tab was hidden, the stream was paused on purpose.
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
