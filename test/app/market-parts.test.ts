import { expect, test } from "vitest";
import { EngineSource } from "../../src/app/engine-source.ts";
import { connect } from "../../src/clients/sdk/index.ts";
import { fillingText } from "../../src/clients/text/filling-text.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { mergeFeeds } from "../../src/feeds/merge/merge-feeds.ts";
import type { ReadyResponse } from "../../src/gateway/http/rest/responses.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { LeaderHealth } from "../../src/scale/follow/leader-health.ts";
import { clock as clockAt, ToldFeed } from "../feeds/merge/told-feed.ts";
import { FRESH } from "../gateway/hub/hub-fixture.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { ManualClock } from "../support/time/manual-clock.ts";

const SECOND = 1_000;
const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("the market is ready while one part is, and reports which parts are not and the age of their data; it is not ready when all are silent", async ({
  onTestFinished,
}) => {
  const time = new ManualClock();
  const [bsc, exchange] = [new ToldFeed("bsc"), new ToldFeed("exchange")];
  const parts = [bsc, exchange].map((feed) => ({ name: feed.name, feed }));
  const feed = mergeFeeds({ name: "live", parts, clock: time });
  const source = new EngineSource({ feed, engine: new TrendEngine(), clock: time, staleAfterMs: 15_000 });
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent" });
  const starting = startGateway(config, { source });
  onTestFinished(async () => (await starting).stop());
  const run = async (from: number, to: number, reported: readonly ToldFeed[]) => {
    for (let second = from; second <= to; second++) {
      for (const part of reported) part.tell(clockAt(second));
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
      reason: "bsc has had no new data for more than 15 s",
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
    parts: [
      { name: "bsc", state: "down", reason: "bsc has failed: no endpoint serves chain 56" },
      { state: "down" },
    ],
  });
});

test("[F4] an edge has its leader's parts, and their ages include the time since the report", () => {
  const health = new LeaderHealth(15_000, 0);
  const part = { name: "bsc", state: "live", reason: "", observed_at: null, data_age_ms: 200 } as const;
  health.noteMessage(1_000);
  health.noteReport({ ...FRESH, parts: [part] }, 1_000);
  health.noteBatch("2026-01-01T00:00:00.000Z", 3_000);
  expect(health.judge(4_000, 0).parts).toEqual([{ ...part, data_age_ms: 3_200 }]);
  health.noteReport(FRESH, 5_000);
  expect(health.judge(5_000, 0)).not.toHaveProperty("parts");
});

test("[W41] the progress of reading the past is in readyz, hello and the client's freshness until it is complete", async ({
  onTestFinished,
}) => {
  const time = new ManualClock();
  const [bsc, exchange] = [new ToldFeed("bsc"), new ToldFeed("exchange")];
  const merged = mergeFeeds({
    ...{ name: "live", clock: time },
    parts: [bsc, exchange].map((feed) => ({ name: feed.name, feed })),
  });
  bsc.past = { readMs: 41_000, ofMs: 90_000 };
  const source = new EngineSource({ feed: merged, engine: new TrendEngine(), clock: time });
  const starting = startGateway(createConfig({ port: 0, drain: "0", logLevel: "silent" }), { source });
  onTestFinished(async () => (await starting).stop());
  for (const part of [bsc, exchange]) part.tick(0, 2);
  const gateway = await starting;
  const filling = async () => {
    const { json } = await checkedFetch(`${gateway.url}/readyz`);
    return (json as ReadyResponse).parts?.map((part) => part.filling);
  };
  expect(await filling()).toEqual([{ read_ms: 41_000, of_ms: 90_000 }, undefined]);
  const stream = connect(gateway.url, { channels: ["status"] });
  onTestFinished(() => stream.close());
  await new Promise<void>((resolve) => {
    stream.on("connection", ({ state }) => (state === "live" ? resolve() : undefined));
  });
  expect(fillingText(stream.freshness ?? {})).toBe("bsc: 41 of 90 s");
  bsc.past = undefined;
  expect(await filling()).toEqual([undefined, undefined]);
});

test("[W41] a market without parts reports itself as the only part while it reads its past", () => {
  const feed = new ToldFeed("bsc");
  feed.past = { readMs: 1_000, ofMs: 2_000 };
  const source = new EngineSource({ feed, engine: new TrendEngine(), clock: new ManualClock() });
  expect(source.freshness().parts).toMatchObject([
    { name: "bsc", state: "stale", filling: { read_ms: 1_000, of_ms: 2_000 } },
  ]);
  feed.past = undefined;
  expect(source.freshness()).not.toHaveProperty("parts");
});
