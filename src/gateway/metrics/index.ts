/** The gateway's metrics. */
export { createGatewayMetrics, type GatewayMetrics } from "./gateway-metrics.ts";
export { distribution, level, type Metrics, quantiles, total } from "./metric-table.ts";
