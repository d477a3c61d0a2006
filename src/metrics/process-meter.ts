import { monitorEventLoopDelay } from "node:perf_hooks";
import { systemClock } from "../lib/time/clock.ts";

/** Measures of the process that have to be watched, not only read. */
export interface ProcessMeter {
  /** By quantile, how late the event loop was, in seconds, over the last one to two minutes, or since it was asked where that is longer ago. Asking changes nothing for others who ask. */
  loopDelay(): Readonly<Record<string, number>>;
  close(): void;
}

/** The histogram looks every so many milliseconds; so long is no delay. */
const RESOLUTION_MS = 20;
const NS = 1e9;

/** Long enough that several who scrape each minute or more often see the same delays. */
const WINDOW_MS = 60_000;

/** Begins to watch. It must be closed, or the watching goes on. `monotonic`: milliseconds, as `Clock.monotonic`. */
export function measureProcess(monotonic: () => number = systemClock.monotonic): ProcessMeter {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let sinceMs = monotonic();
  let before: Readonly<Record<string, number>> = {};
  const over = (ns: number) => Math.max(0, ns / NS - RESOLUTION_MS / 1_000);
  return {
    loopDelay: () => {
      const now: Readonly<Record<string, number>> =
        delay.count === 0
          ? {}
          : {
              "0.5": over(delay.percentile(50)),
              "0.99": over(delay.percentile(99)),
              "1": over(delay.max),
            };
      const names = Object.keys({ ...before, ...now });
      const both = names.map((name) => [name, Math.max(before[name] ?? 0, now[name] ?? 0)]);
      if (monotonic() - sinceMs >= WINDOW_MS) {
        sinceMs = monotonic();
        before = now;
        delay.reset();
      }
      return Object.fromEntries(both);
    },
    close: () => {
      delay.disable();
    },
  };
}
