export type { ClusterState } from "../../scale/cluster/cluster-metrics.ts";
export { createGatewayMetrics, type GatewayMetrics } from "./gateway-metrics.ts";
