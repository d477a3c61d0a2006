import { first, level, type Metrics, max, total } from "./metric-table.ts";
import type { ProcessMeter } from "./process-meter.ts";

export function processMetrics(meter: ProcessMeter): Metrics {
  const cpuSeconds = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  return {
    flarewire_event_loop_delay_seconds: max(
      level(
        "Delay of the event loop over the last one to two minutes, by quantile.",
        () => meter.loopDelay(),
        "quantile",
      ),
    ),
    process_resident_memory_bytes: level("Memory held by the process.", () => process.memoryUsage.rss()),
    nodejs_heap_used_bytes: level(
      "Memory of live objects and of garbage that is not collected yet.",
      () => process.memoryUsage().heapUsed,
    ),
    process_cpu_seconds_total: total("CPU time of the process, user and system.", cpuSeconds),
    process_start_time_seconds: first(
      level("Start time of the process, in seconds since 1970.", () =>
        Math.round(performance.timeOrigin / 1_000),
      ),
    ),
  };
}
