import { expect, test } from "vitest";
import { checkpointOf } from "../../src/app/data/engine-checkpoints.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { crowdOf, playScripts, type Script } from "./trade-market.ts";
import { address, MINUTE, START, withClocks } from "./trend-kit.ts";

const pump: Script = {
  token: address(1),
  rate: (minute) => (minute >= 90 && minute < 102 ? 25 : 2),
  buyShare: (minute) => (minute >= 90 && minute < 102 ? 0.8 : 0.5),
};
const events = withClocks(playScripts([...crowdOf(8), pump], 105), START + 105 * MINUTE, START - 3_000);

test("inspection changes nothing and agrees with the served flare", () => {
  const [watched, alone] = [new TrendEngine(), new TrendEngine()];
  for (const event of events) {
    watched.accept(event);
    watched.trendOf("bsc", pump.token);
    if (event.kind === "clock") watched.readingOf("bsc", pump.token);
    alone.accept(event);
  }
  expect(JSON.stringify(checkpointOf(watched))).toBe(JSON.stringify(checkpointOf(alone)));
  const flare = watched.snapshot().flares.pro[0];
  expect(flare?.token.address).toBe(pump.token);
  const { flaringSinceMs, canarySinceMs } = watched.trendOf("bsc", pump.token) ?? {};
  expect(flaringSinceMs).toBe(Date.parse(flare?.started_trending_at ?? ""));
  expect(canarySinceMs).toBeNull();
  const served = watched.snapshot().explanations[flare?.id ?? ""];
  expect(watched.readingOf("bsc", pump.token)?.threshold).toBe(served?.threshold);
});

test("inspecting an unknown token returns undefined", () => {
  const engine = new TrendEngine();
  expect(engine.trendOf("bsc", address(5))).toBeUndefined();
  expect(engine.readingOf("bsc", "not an address")).toBeUndefined();
});
