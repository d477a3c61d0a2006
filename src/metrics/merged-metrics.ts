import { AggregatorRegistry, Registry } from "prom-client";

/** The numbers of one process, as its registry gives them as plain objects. */
export type MetricsJson = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** The numbers of several processes of one gateway as one, each by its own rule: see Across. */
export class MergedMetrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  /** What those that are gone had counted: a count never goes back, or whoever draws its rate would see a burst. */
  #departed: MetricsJson = [];

  /** As text; `first`: those of the primary process, whose word counts where only one can. */
  async text(first: MetricsJson, others: readonly MetricsJson[]): Promise<string> {
    return AggregatorRegistry.aggregate([first, ...others, this.#departed]).metrics();
  }

  /** A process is gone, and this is the last that was heard of it. */
  async depart(last: MetricsJson): Promise<void> {
    const counts = last.filter(
      ({ type, aggregator }) => aggregator === "sum" && ["counter", "histogram"].includes(String(type)),
    );
    this.#departed = await AggregatorRegistry.aggregate([this.#departed, counts]).getMetricsAsJSON();
  }
}
