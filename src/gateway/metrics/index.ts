export type { ClusterState } from "../../scale/cluster/cluster-metrics.ts";
export {
  createGatewayMetrics,
  type GatewayMetrics,
  type WorkerCounts,
} from "./gateway-metrics.ts";
export { MergedMetrics, type MetricsJson } from "./merged-metrics.ts";
