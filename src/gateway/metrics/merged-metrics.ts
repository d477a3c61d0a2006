import { AggregatorRegistry, type Registry } from "prom-client";

/** The metrics of one process as plain objects. */
export type MetricsJson = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** Merges the metrics of several processes of one gateway, each as its `aggregator` says. */
export class MergedMetrics {
  /** The final counts of ended processes, so that no counter decreases. */
  #departed: MetricsJson = [];

  /** Formats the merged metrics. `first`: the primary process, which provides the global values. */
  async text(first: MetricsJson, others: readonly MetricsJson[]): Promise<string> {
    return AggregatorRegistry.aggregate([first, ...others, this.#departed]).metrics();
  }

  /** Records the last metrics of a process that ended. */
  async depart(last: MetricsJson): Promise<void> {
    const counts = last.filter(
      ({ type, aggregator }) => aggregator === "sum" && ["counter", "histogram"].includes(String(type)),
    );
    this.#departed = await AggregatorRegistry.aggregate([this.#departed, counts]).getMetricsAsJSON();
  }
}
