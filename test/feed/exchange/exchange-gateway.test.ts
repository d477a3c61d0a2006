import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startGateway } from "../../../src/app.ts";
import { createConfig } from "../../../src/config.ts";
import { createLogger } from "../../../src/create-logger.ts";
import { createReplayFeed } from "../../../src/feed/index.ts";
import type { Snapshot } from "../../../src/model/index.ts";
import { FastClock } from "../../support/fast-clock.ts";
import { checkedFetch } from "../../support/validate-response.ts";
import { play } from "../record/record-kit.ts";
import { LeapingClock } from "../replay/replay-kit.ts";
import { candleOf, StandIn, type StandInPair } from "./stand-in.ts";

const START = Date.UTC(2026, 5, 1, 12, 0, 30);
const BASES = ["AAA", "BBB", "CCC", "DDD", "EEE", "FFF", "GGG"];
const PAIRS: readonly StandInPair[] = BASES.map((base, index) => ({
  venue: index < 4 ? "binance" : "gate",
  base,
  quoteVolume: 5e6,
}));

test("[L4] the exchanges' market is served, says what of it is down, and its recording replays to the same state", {
  timeout: 30_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-exchange-"));
  const clock = new FastClock(40, START);
  await using server = await new StandIn(clock, PAIRS).listen();
  server.mischief.set("kucoin", "html");
  const { url, streamUrl } = server;
  const config = createConfig({
    ...{ port: 0, feed: "exchange", warmup: "2h", record: directory, drain: "0" },
    ...{
      binanceUrl: url,
      binanceStreamUrl: streamUrl,
      kucoinUrl: url,
      gateUrl: url,
      gateStreamUrl: streamUrl,
    },
  });
  const gateway = await startGateway(config, { clock, logger: createLogger("silent") });
  try {
    await new Promise<void>((resolve) => {
      const look = () => gateway.head.ready && resolve();
      gateway.head.onChange(look);
      look();
    });
    const told = await checkedFetch(`${gateway.url}/api/v1/snapshot`);
    const { charts, leaderboards } = told.json as Snapshot;
    expect(told.headers.get("flarewire-origin")).toBe("live");
    expect(gateway.freshness()).toMatchObject({
      state: "live",
      reason: expect.stringMatching(/^kucoin answered text\/html/),
    });
    expect(charts.exchange.length).toBeGreaterThan(0);
    expect(leaderboards.exchange.length).toBeGreaterThan(0);
    const [item] = charts.exchange;
    const minute = Math.floor(Date.parse(told.headers.get("flarewire-observed-at") ?? "") / 60_000) * 60_000;
    const symbol = String(item?.token.symbol);
    const pair = BASES.indexOf(symbol) < 4 ? `${symbol}USDT` : `${symbol}_USDT`;
    // The mean of the last sixty closes, as the exchange itself would reckon it.
    const closes = Array.from({ length: 60 }, (_, back) =>
      Number(candleOf(pair, minute - (back + 1) * 60_000).close),
    );
    const mean = closes.reduce((sum, close) => sum + close, 0) / 60;
    expect(Number(item?.most_recent_price_average) / mean).toBeCloseTo(1, 3);
    const { status } = await checkedFetch(`${gateway.url}/readyz`);
    expect(status).toBe(200);
  } finally {
    await gateway.stop();
  }
  const { snapshot } = gateway.head;
  const [run = ""] = readdirSync(directory);
  const path = join(directory, run);
  const replayed = await play(
    createReplayFeed({ path, speed: Number.POSITIVE_INFINITY, clock: new LeapingClock() }),
  );
  const state = JSON.parse(replayed.state);
  const served = JSON.parse(JSON.stringify(snapshot));
  expect({ charts: state.charts, leaderboards: state.leaderboards }).toEqual({
    charts: served.charts,
    leaderboards: served.leaderboards,
  });
  rmSync(directory, { recursive: true });
});
