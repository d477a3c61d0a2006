import { expect, test } from "vitest";
import {
  distribution,
  level,
  metricsText,
  quantiles,
  total,
} from "../../../src/gateway/metrics/metric-table.ts";

/** Returns the series of a metric: `name{label="value"} 1`. */
function seriesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

test.each([
  ["a count", total],
  ["a level", level],
])("each scrape of %s shows the current series and no removed one", (_, metric) => {
  let now: Readonly<Record<string, number>> = { one: 1, two: 2 };
  const metrics = { test_number: metric("A number.", () => now, "of") };
  for (let scrape = 0; scrape < 2; scrape += 1)
    expect(seriesOf(metricsText(metrics))).toEqual(['test_number{of="one"} 1', 'test_number{of="two"} 2']);
  now = { two: 3, three: 0 };
  expect(seriesOf(metricsText(metrics))).toEqual(['test_number{of="two"} 3', 'test_number{of="three"} 0']);
  now = {};
  expect(seriesOf(metricsText(metrics))).toEqual([]);
});

test("the text has each metric with its help and type, and escapes what the format reserves", () => {
  const metrics = {
    test_count: total("A count of\nC:\\files.", () => 2),
    test_level: level(
      "A level.",
      () => [[{ path: 'C:\\"a"\n', of: "b" }, Number.POSITIVE_INFINITY]],
      "path",
      "of",
    ),
    test_seconds: distribution("Times.", () => [
      [{ of: "a" }, { bounds: [0.5, 1], counts: [1, 2, 3], sum: 4.5 }],
    ]),
    test_lag: quantiles("Lag.", () => ({ 0.5: 1.5, 1: Number.NaN })),
  };
  expect(metricsText(metrics)).toBe(`# HELP test_count A count of\\nC:\\\\files.
# TYPE test_count counter
test_count 2

# HELP test_level A level.
# TYPE test_level gauge
test_level{path="C:\\\\\\"a\\"\\n",of="b"} +Inf

# HELP test_seconds Times.
# TYPE test_seconds histogram
test_seconds_bucket{of="a",le="0.5"} 1
test_seconds_bucket{of="a",le="1"} 2
test_seconds_bucket{of="a",le="+Inf"} 3
test_seconds_sum{of="a"} 4.5
test_seconds_count{of="a"} 3

# HELP test_lag Lag.
# TYPE test_lag summary
test_lag{quantile="1"} NaN
test_lag{quantile="0.5"} 1.5
`);
});
