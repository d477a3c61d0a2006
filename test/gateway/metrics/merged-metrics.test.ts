import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { MergedMetrics, type MetricsJson } from "../../../src/gateway/metrics/index.ts";

/** Returns the metrics of one process. */
function processOf(sent: number, seq: number, delay: number): Promise<MetricsJson> {
  const registers = [new Registry()];
  const counted = new Counter({ name: "sent_total", help: "s", labelNames: ["to"], registers });
  counted.inc({ to: "a" }, sent);
  new Gauge({ name: "head", help: "h", registers, aggregator: "first" }).set(seq);
  new Gauge({ name: "delay", help: "d", registers, aggregator: "max" }).set(delay);
  new Gauge({ name: "open", help: "o", registers }).set(1);
  new Histogram({ name: "took", help: "t", buckets: [1], registers }).observe(0.5);
  return registers[0]?.getMetricsAsJSON() ?? Promise.resolve([]);
}

test("counters and gauges are summed, global values are the primary's, delays the maximum, and no counter decreases when a process ends", async () => {
  const merged = new MergedMetrics();
  const [primary, one, other] = await Promise.all([
    processOf(0, 9, 0.1),
    processOf(3, 8, 0.7),
    processOf(4, 7, 0.2),
  ]);
  const lines = async (...others: MetricsJson[]) => (await merged.text(primary, others)).split("\n");
  expect(await lines(one, other)).toEqual(
    expect.arrayContaining(['sent_total{to="a"} 7', "head 9", "delay 0.7", "open 3", "took_count 3"]),
  );
  await merged.depart(one);
  expect(await lines(other)).toEqual(
    expect.arrayContaining(['sent_total{to="a"} 7', "head 9", "delay 0.2", "open 2", "took_count 3"]),
  );
  await merged.depart(other);
  expect(await lines()).toEqual(expect.arrayContaining(['sent_total{to="a"} 7', "open 1", "took_count 3"]));
});
