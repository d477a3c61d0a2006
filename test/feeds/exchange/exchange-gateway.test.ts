import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createConfig } from "../../../src/app/config/config.ts";
import { startGateway } from "../../../src/app/serve.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { checkedFetch } from "../../support/expect/validate-response.ts";
import { PacedClock } from "../../support/time/paced-clock.ts";
import { play } from "../record/record-kit.ts";
import { LeapingClock } from "../replay/replay-kit.ts";
import { candleOf, StandIn, type StandInPair } from "./stand-in.ts";

const START = Date.UTC(2026, 5, 1, 12, 0, 30);
const PATIENCE = { timeout: 280_000, interval: 20 };
const BASES = ["AAA", "BBB", "CCC", "DDD", "EEE", "FFF", "GGG"];
const PAIRS: readonly StandInPair[] = BASES.map((base, index) => ({
  venue: index < 4 ? "binance" : "gate",
  base,
  quoteVolume: 5e6,
}));

test("[L4] the exchanges' market is served, reports what is down, and its recording replays to the same state", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-exchange-"));
  const clock = new PacedClock(20, START);
  await using server = await new StandIn(clock, PAIRS).listen();
  server.mischief.set("kucoin", "html");
  const { url, streamUrl } = server;
  const config = createConfig({
    port: 0,
    feed: "exchange",
    warmup: "2h",
    record: directory,
    drain: "0",
    binanceUrl: url,
    binanceStreamUrl: streamUrl,
    kucoinUrl: url,
    gateUrl: url,
    gateStreamUrl: streamUrl,
  });
  const gateway = await startGateway(config, { clock, logger: createLogger("silent") });
  try {
    await new Promise<void>((resolve) => {
      const look = () => gateway.head.ready && resolve();
      gateway.head.onChange(look);
      look();
    });
    const reported = await checkedFetch(`${gateway.url}/api/v1/snapshot`);
    const { charts, leaderboards } = reported.json as Snapshot;
    expect(reported.headers.get("flarewire-origin")).toBe("live");
    // A machine that is busy elsewhere lets some scaled seconds pass without news.
    await vi.waitFor(
      () =>
        expect(gateway.freshness()).toMatchObject({
          state: "live",
          reason: expect.stringMatching(/^kucoin returned text\/html/),
        }),
      PATIENCE,
    );
    expect(charts.exchange.length).toBeGreaterThan(0);
    expect(leaderboards.exchange.length).toBeGreaterThan(0);
    const [item] = charts.exchange;
    const minute =
      Math.floor(Date.parse(reported.headers.get("flarewire-observed-at") ?? "") / 60_000) * 60_000;
    const symbol = String(item?.token.symbol);
    const pair = BASES.indexOf(symbol) < 4 ? `${symbol}USDT` : `${symbol}_USDT`;
    // The mean of the last sixty closes, as the exchange itself would reckon it.
    const closes = Array.from({ length: 60 }, (_, back) =>
      Number(candleOf(pair, minute - (back + 1) * 60_000).close),
    );
    const mean = closes.reduce((sum, close) => sum + close, 0) / 60;
    expect(Number(item?.most_recent_price_average) / mean).toBeCloseTo(1, 3);
    await vi.waitFor(async () => expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200), PATIENCE);
  } finally {
    await gateway.stop();
  }
  const { snapshot, observedAtMs } = gateway.head;
  const [run = ""] = readdirSync(directory);
  const path = join(directory, run);
  // What came after the last poll is recorded, too.
  const replayed = await play(
    new ReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: new LeapingClock() }),
    observedAtMs,
  );
  const state = JSON.parse(replayed.state);
  const served = JSON.parse(JSON.stringify(snapshot));
  expect({ charts: state.charts, leaderboards: state.leaderboards }).toEqual({
    charts: served.charts,
    leaderboards: served.leaderboards,
  });
  rmSync(directory, { recursive: true });
});

test("a restarted server continues in the same epoch, with the missed events", async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-exchange-"));
  const clock = new PacedClock(40, START);
  await using server = await new StandIn(clock, PAIRS).listen();
  const { url, streamUrl } = server;
  const config = createConfig({
    port: 0,
    feed: "exchange",
    exchanges: "binance,gate",
    warmup: "1h",
    data: directory,
    drain: "0",
    binanceUrl: url,
    binanceStreamUrl: streamUrl,
    gateUrl: url,
    gateStreamUrl: streamUrl,
  });
  const run = async (atLeastMs: number) => {
    const gateway = await startGateway(config, { clock, logger: createLogger("silent") });
    await new Promise<void>((resolve) => {
      const look = () => gateway.head.ready && gateway.head.observedAtMs >= atLeastMs && resolve();
      gateway.head.onChange(look);
      look();
    });
    const { cursor, observedAtMs, snapshot } = gateway.head;
    await gateway.stop();
    return { cursor, observedAtMs, snapshot };
  };
  const before = await run(0);
  await clock.sleep(3 * 60_000, new AbortController().signal);
  const after = await run(before.observedAtMs + 3 * 60_000);
  expect(after.cursor.epoch).toBe(before.cursor.epoch);
  expect(after.cursor.seq).toBeGreaterThan(before.cursor.seq);
  const closes = after.snapshot.charts.exchange.map(
    ({ latest_candle_prices }) => latest_candle_prices.length,
  );
  expect(new Set(closes)).toEqual(new Set([60]));
  rmSync(directory, { recursive: true });
});
