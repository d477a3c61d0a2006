import { constants, monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { systemClock } from "../../base/lib/time/clock.ts";
import { level, type Metrics, quantiles, total } from "./metric-table.ts";
import { openFiles } from "./open-files.ts";

/** Measurements that need continuous observation. */
export type ProcessMeter = ReturnType<typeof measureProcess>;

/** Sampling interval of the histogram, whose values include it. */
const RESOLUTION_MS = 20;
const NS = 1e9;

/** Long enough that several scrapers with intervals up to a minute see the same delays. */
const WINDOW_MS = 60_000;

const GC_KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weakcb"],
]);

/** Starts measuring, until closed. `monotonic`: milliseconds, as in `Clock.monotonic`. */
export function measureProcess(monotonic: () => number = systemClock.monotonic) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let sinceMs = monotonic();
  let before: Readonly<Record<string, number>> = {};
  const gcSeconds: Record<string, number> = { minor: 0, incremental: 0, major: 0, weakcb: 0 };
  const collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = GC_KINDS.get(Object(Reflect.get(entry, "detail")).kind) ?? "other";
      gcSeconds[kind] = (gcSeconds[kind] ?? 0) + entry.duration / 1_000;
    }
  });
  collections.observe({ entryTypes: ["gc"] });
  const over = (ns: number) => Math.max(0, ns / NS - RESOLUTION_MS / 1_000);
  return {
    /**
     * The event loop's delay in seconds, by quantile, over the last one to two minutes if called at
     * least once a minute. Empty before the first sample.
     */
    loopDelay: (): Readonly<Record<string, number>> => {
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
    /** Time that garbage collection took, in seconds by kind. */
    gcSeconds,
    close: () => {
      collections.disconnect();
      delay.disable();
    },
  };
}

export function processMetrics(meter: ProcessMeter): Metrics {
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  return {
    flarewire_event_loop_delay_seconds: quantiles(
      "Delay of the event loop over the last one to two minutes, by quantile.",
      () => meter.loopDelay(),
    ),
    process_resident_memory_bytes: level("Memory held by the process.", () => process.memoryUsage.rss()),
    nodejs_heap_used_bytes: level(
      "Memory of live objects and of garbage that is not collected yet.",
      () => process.memoryUsage().heapUsed,
    ),
    process_open_fds: level("Open files and sockets of the process.", () => openFiles()?.open ?? []),
    process_max_fds: level("Limit of open files and sockets of the process.", () => openFiles()?.limit ?? []),
    nodejs_gc_seconds_total: total(
      "Time that garbage collection took, by kind.",
      () => meter.gcSeconds,
      "kind",
    ),
    process_cpu_seconds_total: total("CPU time of the process, user and system.", cpuSeconds),
    process_start_time_seconds: level("Start time of the process, in seconds since 1970.", () =>
      Math.round(performance.timeOrigin / 1_000),
    ),
  };
}
