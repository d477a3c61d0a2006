/** The metrics of a server, and their form for Prometheus. */
export { DurationHistogram } from "./duration-histogram.ts";
export { level, type Metrics, total } from "./metric-table.ts";
export { openFiles } from "./open-files.ts";
