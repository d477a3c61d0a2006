import type { Logger } from "pino";
import { METRICS_PATH, Refusals, ResponseCounts } from "../http/index.ts";
import type { MetricsText } from "../http/metrics-route.ts";
import type { GatewayMetrics, MeasuredGateway } from "../metrics/gateway-metrics.ts";
import type { GatewaySettings } from "../settings/index.ts";

/** Counts what the HTTP server refuses and answers. */
export function createHttpCounts(...parts: ConstructorParameters<typeof Refusals>) {
  return { refusals: new Refusals(...parts), responses: new ResponseCounts() };
}

/** Connects a gateway's metrics to its parts. `undefined` if the setting is off. */
export async function openMetrics(
  config: { readonly metrics: boolean },
  gateway: MeasuredGateway,
): Promise<GatewayMetrics | undefined> {
  if (!config.metrics) return undefined;
  const { createGatewayMetrics } = await import("../metrics/gateway-metrics.ts");
  return createGatewayMetrics(gateway);
}

/** Whether metrics have their own port. The public port does not serve them then. */
export const hasOwnMetricsPort = ({ metricsPort }: Pick<GatewaySettings, "metricsPort">) =>
  Number.isFinite(metricsPort);

/**
 * Calls `listen`, and first opens the metrics' own port if the config names one. If either fails,
 * closes the metrics' port and rejects. `metrics`: `undefined` if they are off. The result's `url`
 * is that of `listen`, and its `close` closes the metrics' port.
 */
export async function listenWithMetrics(
  config: Pick<GatewaySettings, "metricsHost" | "metricsPort" | "allowedHosts">,
  metrics: MetricsText | undefined,
  refusals: Refusals,
  logger: Logger,
  listen: () => Promise<string>,
) {
  const { metricsHost: host, metricsPort: port, allowedHosts } = config;
  if (!metrics || !hasOwnMetricsPort(config))
    return { url: await listen(), metricsUrl: undefined, close: async () => {} };
  const { createMetricsServer } = await import("../http/metrics-route.ts");
  const { listenProblem } = await import("./listen-problem.ts");
  const app = createMetricsServer({ host, allowedHosts }, metrics, refusals);
  const close = () => app.close();
  try {
    const origin = await app.listen({ host, port }).catch((error: unknown) => {
      const names = { host: "metricsHost", port: "metricsPort" } as const;
      throw listenProblem(error, { host, port }, names) ?? error;
    });
    const metricsUrl = `${origin}${METRICS_PATH}`;
    logger.info({ url: metricsUrl }, "serving metrics");
    return { url: await listen(), metricsUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}
