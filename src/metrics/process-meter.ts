import { monitorEventLoopDelay } from "node:perf_hooks";

/** Measures of the process that have to be watched, not only read. */
export interface ProcessMeter {
  /** By quantile, how late the event loop was, in seconds, since this was asked for the last time. */
  loopDelay(): Readonly<Record<string, number>>;
  close(): void;
}

/** The histogram looks every so many milliseconds; so long is no delay. */
const RESOLUTION_MS = 20;
const NS = 1e9;

/** Begins to watch. It must be closed, or the watching goes on. */
export function measureProcess(): ProcessMeter {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const over = (ns: number) => Math.max(0, ns / NS - RESOLUTION_MS / 1_000);
  return {
    loopDelay: () => {
      const quantiles =
        delay.count === 0
          ? {}
          : {
              "0.5": over(delay.percentile(50)),
              "0.99": over(delay.percentile(99)),
              "1": over(delay.max),
            };
      delay.reset();
      return quantiles;
    },
    close: () => {
      delay.disable();
    },
  };
}
