import { expect, test } from "vitest";
import { measureProcess } from "../../../src/gateway/metrics/process-meter.ts";

test("a scrape does not hide an event loop delay from the next scrapes, and an old delay disappears", async ({
  onTestFinished,
}) => {
  let nowMs = 0;
  const meter = measureProcess(() => nowMs);
  onTestFinished(() => meter.close());
  const worst = () => meter.loopDelay()["1"] ?? 0;
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(() => meter.loopDelay()["1"] !== undefined);
  const begun = performance.now();
  while (performance.now() - begun < 400);
  await until(() => worst() >= 0.3);
  expect(worst()).toBeGreaterThanOrEqual(0.3);
  nowMs = 60_000;
  expect(worst()).toBeGreaterThanOrEqual(0.3);
  expect(worst()).toBeGreaterThanOrEqual(0.3);
  nowMs = 120_000;
  worst();
  nowMs = 180_000;
  worst();
  // After two windows without a long delay, the old one no longer counts.
  await until(() => {
    nowMs += 60_000;
    return worst() < 0.3;
  });
});

test("the time of minor garbage collections is measured", async ({ onTestFinished }) => {
  const meter = measureProcess();
  onTestFinished(() => meter.close());
  for (let garbage: unknown[] = []; !((meter.gcSeconds.minor ?? 0) > 0); garbage = []) {
    for (let at = 0; at < 100_000; at += 1) garbage.push({ at });
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(meter.gcSeconds.minor).toBeLessThan(60);
});
