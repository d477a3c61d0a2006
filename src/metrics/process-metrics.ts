import type { Registry } from "prom-client";
import type { ProcessMeter } from "./process-meter.ts";
import { level, total } from "./read-metric.ts";

export function addProcess(registry: Registry, meter: ProcessMeter): void {
  level(
    registry,
    "flarewire_event_loop_delay_seconds",
    "Delay of the event loop over the last one to two minutes, by quantile.",
    () => meter.loopDelay(),
    "quantile",
    "max",
  );
  level(registry, "process_resident_memory_bytes", "Memory held by the process.", () =>
    process.memoryUsage.rss(),
  );
  level(
    registry,
    "nodejs_heap_used_bytes",
    "Memory of live objects and of garbage that is not collected yet.",
    () => process.memoryUsage().heapUsed,
  );
  total(registry, "process_cpu_seconds_total", "CPU time of the process, user and system.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  level(
    registry,
    "process_start_time_seconds",
    "Start time of the process, in seconds since 1970.",
    () => Math.round(performance.timeOrigin / 1_000),
    undefined,
    "first",
  );
}
