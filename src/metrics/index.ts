export type { ClusterState } from "./cluster-metrics.ts";
export {
  createGatewayMetrics,
  type GatewayMetrics,
  type WorkerCounts,
} from "./gateway-metrics.ts";
export { MergedMetrics, type MetricsJson } from "./merged-metrics.ts";
