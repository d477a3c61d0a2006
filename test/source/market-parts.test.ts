import { expect, test } from "vitest";
import { mergeFeeds } from "../../src/feed/index.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { LeaderHealth } from "../../src/source/follow/leader-health.ts";
import { createEngineSource } from "../../src/source/index.ts";
import { TrendEngine } from "../../src/trend/index.ts";
import { clock as clockAt, ToldFeed } from "../feed/merge/told-feed.ts";
import { FRESH } from "../hub/hub-fixture.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { checkedFetch } from "../support/validate-response.ts";

const SECOND = 1_000;
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("the whole is ready as long as one part is, says which is not and how old its data is; when all are silent it is not", async ({
  onTestFinished,
}) => {
  const time = new ManualClock();
  const [bsc, exchange] = [new ToldFeed("bsc"), new ToldFeed("exchange")];
  const parts = [bsc, exchange].map((feed) => ({ name: feed.name, feed }));
  const feed = mergeFeeds({ name: "live", parts, clock: time });
  const source = createEngineSource({ feed, engine: new TrendEngine(), clock: time, staleAfterMs: 15_000 });
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent" });
  const starting = startGateway(config, { source });
  onTestFinished(async () => (await starting).stop());
  const run = async (from: number, to: number, told: readonly ToldFeed[]) => {
    for (let second = from; second <= to; second++) {
      for (const part of told) part.tell(clockAt(second));
      await settle();
      time.advance(SECOND);
      await settle();
    }
  };
  await run(0, 3, [bsc, exchange]);
  const { url } = await starting;
  await run(4, 40, [exchange]);
  const well = await checkedFetch(`${url}/readyz`);
  expect([well.status, well.json]).toMatchObject([
    200,
    {
      state: "live",
      reason: "bsc is silent",
      parts: [
        { name: "bsc", state: "stale", data_age_ms: 38_000, observed_at: "2026-01-01T00:00:03.000Z" },
        { name: "exchange", state: "live", data_age_ms: 1_000, observed_at: "2026-01-01T00:00:40.000Z" },
      ],
    },
  ]);
  time.advance(20 * SECOND);
  const silent = await checkedFetch(`${url}/readyz`);
  expect([silent.status, silent.json]).toMatchObject([
    503,
    {
      parts: [
        { name: "bsc", data_age_ms: 58_000 },
        { name: "exchange", state: "stale", data_age_ms: 21_000 },
      ],
    },
  ]);
  bsc.end(new Error("no endpoint serves chain 56"));
  exchange.end(new Error("gone"));
  await settle();
  expect(source.freshness()).toMatchObject({
    state: "down",
    parts: [{ name: "bsc", state: "down", reason: "failed: no endpoint serves chain 56" }, { state: "down" }],
  });
});

test("[F4] an edge has the parts as its leader told them, older by the time since", () => {
  const health = new LeaderHealth(15_000, 0);
  const part = { name: "bsc", state: "live", reason: "", observed_at: null, data_age_ms: 200 } as const;
  health.noteMessage(1_000);
  health.noteReport({ ...FRESH, parts: [part] }, 1_000);
  health.noteBatch("2026-01-01T00:00:00.000Z", 3_000);
  expect(health.judge(4_000, 0).parts).toEqual([{ ...part, data_age_ms: 3_200 }]);
  health.noteReport(FRESH, 5_000);
  expect(health.judge(5_000, 0)).not.toHaveProperty("parts");
});
