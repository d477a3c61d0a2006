import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addMetrics, level, total } from "../../../src/gateway/metrics/metric-table.ts";

/** Returns the series of a registry: `name{label="value"} 1`. */
async function seriesOf(registry: Registry): Promise<readonly string[]> {
  const text = await registry.metrics();
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test.each([
  ["a count", total],
  ["a level", level],
])("each scrape of %s shows the current series and no removed one", async (_, metric) => {
  const registry = new Registry();
  let now: Readonly<Record<string, number>> = { one: 1, two: 2 };
  addMetrics(registry, { test_number: metric("A number.", () => now, "of") });
  for (let scrape = 0; scrape < 2; scrape += 1)
    expect(await seriesOf(registry)).toEqual(['test_number{of="one"} 1', 'test_number{of="two"} 2']);
  now = { two: 3, three: 0 };
  expect(await seriesOf(registry)).toEqual(['test_number{of="two"} 3', 'test_number{of="three"} 0']);
  now = {};
  expect(await seriesOf(registry)).toEqual([]);
});
