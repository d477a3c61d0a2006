import { openFiles } from "../../../base/lib/io/open-files.ts";
import { level, type Metrics, quantiles, total } from "../metric-table.ts";
import type { ProcessMeter } from "./process-meter.ts";

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
