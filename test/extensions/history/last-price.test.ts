import { expect, test } from "vitest";
import { EngineSource } from "../../../src/app/engine-source.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { detailsOf } from "../../../src/extensions/history/http/token-details.ts";
import { TokenIndex } from "../../../src/extensions/history/http/token-index.ts";
import { loadRenderer } from "../../../src/extensions/pages/index.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { pumpedDay } from "../../support/world/pumped-market.ts";
import { MINUTE_MS } from "./flare-records.ts";

const UNSTORED = { records: [], starts: new Map(), candles: [] };

const FACTS = ["trades", "liquidity"];
const PAGE = { root: "", market: undefined, kind: { origin: "recorded", facts: FACTS } };

test("after each of more than 50 flares, the token's price, also on its page, is as new as its newest candle", async () => {
  const feed = new ReplayFeed({
    path: pumpedDay(),
    group: "bsc",
    speed: Number.POSITIVE_INFINITY,
    clock: systemClock,
  });
  const { renderTokenPage } = await loadRenderer();
  const engine = new TrendEngine({ facts: feed.facts });
  const source = new EngineSource({ feed, engine, clock: systemClock, staleAfterMs: Infinity });
  const ended = new Set<string>();
  const moved = new Set<string>();
  const stale: string[] = [];
  const { charts, leaderboards } = EMPTY_SNAPSHOT;
  let { candles } = EMPTY_SNAPSHOT;
  const over = new AbortController();
  while (ended.size <= 50) {
    const poll = await source.poll(over.signal).catch(() => undefined);
    if (!poll) break;
    const nowMs = poll.observedAtMs;
    if (poll.snapshot.candles === candles) continue;
    candles = poll.snapshot.candles;
    // In no chart, nothing but the candles says how the price went on.
    for (const snapshot of [poll.snapshot, { ...poll.snapshot, charts, leaderboards }])
      for (const [address, ofToken] of Object.entries(candles.bsc)) {
        const listed = new TokenIndex("bsc", snapshot).find(address);
        const known = { group: "bsc", identity: address, listed, stored: UNSTORED, snapshot, nowMs } as const;
        const details = detailsOf(known);
        const [latest] = details?.flares ?? [];
        const [close, openAt] = [ofToken.at(-1)?.close, ofToken.at(-1)?.open_at ?? ""];
        if (!details || !latest || latest.cause === null || close == null) continue;
        const { id, token } = latest.flare;
        const page = ended.has(id) ? undefined : renderTokenPage({ ...PAGE, details, flareId: id, nowMs });
        ended.add(id);
        const shown = [`title="${details.price}"`, `<time datetime="${details.price_at}"`];
        if (page && !shown.every((text) => page.includes(text))) stale.push(`the page of ${id}`);
        if (Math.abs(Number(close) / Number(token.price) - 1) > 0.01) moved.add(id);
        const isNew = Date.parse(details.price_at ?? "") >= Date.parse(openAt) + MINUTE_MS;
        if (!isNew || Number(details.price) !== Number(close)) stale.push(`${id} at ${openAt}`);
      }
  }
  over.abort();
  expect(stale).toEqual([]);
  expect(ended.size).toBeGreaterThan(50);
  // The price at the end would be wrong for these.
  expect(moved.size).toBeGreaterThan(20);
}, 60_000);
