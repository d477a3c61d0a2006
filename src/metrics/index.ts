/** The gateway in numbers, for whoever operates it. */
export { createGatewayMetrics, type GatewayMetrics, type MetricsParts } from "./gateway-metrics.ts";
