import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { checkpointOf, restoreEngine } from "../../../src/app/data/engine-checkpoints.ts";
import type { Snapshot } from "../../../src/base/model/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { crowdOf, playScripts } from "../trade-market.ts";
import { address, liquidity, MINUTE, SECOND, START, unlisted, withClocks } from "../trend-kit.ts";

/** A checkpoint of release 0.1.0, written for this market at {@link WRITTEN_MS}. */
const STORED = new URL("checkpoint-16.json.br", import.meta.url);
const WRITTEN_MS = START + 105 * MINUTE + 30 * SECOND;
const MINUTES = 240;

/** At the checkpoint, one flare waits for its final outcome, one runs, and one starts later. */
function marketEvents() {
  const pumped = [
    [80, 86],
    [102, 120],
    [200, 206],
  ].map(([from = 0, until = 0], n) => {
    const isHot = (minute: number) => minute >= from && minute < until;
    const rate = (minute: number) => (isHot(minute) ? 15 : 0.8);
    const buyShare = (minute: number) => (isHot(minute) ? 0.9 : 0.5);
    return { token: address(n + 1), usd: 300, rate, buyShare };
  });
  const events = playScripts([...crowdOf(4), ...pumped], MINUTES);
  return withClocks(events, START + MINUTES * MINUTE, START - 3 * SECOND);
}

/** That release measured net buying otherwise, so flares differ by some seconds. */
const flaresOf = ({ flares }: Snapshot) =>
  [...flares.pro, ...flares.finished_trending].map(({ token, started_trending_at }) => {
    const minute = (Date.parse(started_trending_at) - START) / MINUTE;
    return `${token.address} ${[80, 102, 200].find((from) => Math.abs(minute - from) < 4)}`;
  });
/** Without the times of prices, which that release did not serve. */
const listedOf = ({ charts, newest, leaderboards }: Snapshot) =>
  JSON.parse(
    JSON.stringify({ charts, newest, leaderboards }, (key, value) =>
      key === "id" || key === "price_at" ? undefined : value,
    ),
  );

test("[L2] an engine continues from a checkpoint of release 0.1.0: its lists and candles are those of an engine that never stopped", () => {
  const stored = JSON.parse(brotliDecompressSync(readFileSync(STORED)).toString("utf8"));
  expect(stored.version).toBe(16);
  const continued = restoreEngine(stored);
  // That release compared no launches with each other.
  const steady = new TrendEngine();
  const seen = { flares: new Set<string>(), candles: 0 };
  for (const event of marketEvents()) {
    steady.accept(unlisted(event));
    if (event.at > WRITTEN_MS) continued.accept(event);
    if (event.kind !== "clock" || event.at < WRITTEN_MS || event.at % (30 * SECOND) !== 0) continue;
    const [is, expected] = [continued.snapshot(), steady.snapshot()];
    expect(listedOf(is)).toEqual(listedOf(expected));
    if (event.at % (10 * MINUTE) === 5 * MINUTE) expect(flaresOf(is)).toEqual(flaresOf(expected));
    for (const id of Object.keys(is.outcomes)) seen.flares.add(id);
    expect(Object.keys(is.candles.bsc)).toEqual(Object.keys(expected.candles.bsc));
    for (const [token, list] of Object.entries(is.candles.bsc)) {
      expect(list).toEqual(expected.candles.bsc[token]);
      seen.candles += list.length;
    }
  }
  expect(seen.flares.size).toBe(3);
  expect(seen.candles).toBeGreaterThan(300);
});

test("a flare that an engine of release 0.1.0 started does not surge because its strength is unknown", () => {
  const engine = new TrendEngine();
  const events = marketEvents();
  const cutMs = START + 112 * MINUTE;
  for (const event of events) if (event.at <= cutMs) engine.accept(event);
  const continued = restoreEngine({ ...checkpointOf(engine), version: 16 });
  let running = 0;
  for (const event of events) {
    if (event.at <= cutMs || event.at > cutMs + 3 * MINUTE) continue;
    continued.accept(event);
    const { flares, explanations } = continued.snapshot();
    running = Math.max(running, flares.pro.length);
    expect(Object.values(explanations).filter(({ surge }) => surge !== undefined)).toEqual([]);
  }
  expect(running).toBe(1);
});

test("a flare whose pool is emptied ends within five seconds, also across a restart in between, after release 0.1.0 or the version without launches", () => {
  const cutMs = START + 112 * MINUTE;
  const endOf = (goneMs: number, part: { version?: number }) => {
    const gone = liquidity(goneMs, address(2), "0", "remove");
    const all = [...marketEvents(), gone].sort((a, b) => a.at - b.at);
    const engine = new TrendEngine();
    for (const event of all) if (event.at <= cutMs) engine.accept(event);
    const continued = restoreEngine({ ...checkpointOf(engine), ...part });
    for (const event of all) if (event.at > cutMs && event.at <= goneMs + 5 * SECOND) continued.accept(event);
    return continued.snapshot().flares.finished_trending.map(({ token }) => token.address);
  };
  expect(endOf(cutMs - 2 * SECOND - 1, {})).toContain(address(2));
  for (const version of [16, 17]) expect(endOf(cutMs + MINUTE + 1, { version })).toContain(address(2));
});

test("[L2] an engine continues from a state of version 19 or 20, which lacks what tells one person's wallets or their dollars: its snapshots are those of an engine that never stopped", () => {
  const cutMs = START + 112 * MINUTE;
  const events = [...marketEvents()].filter(({ at }) => at <= cutMs + 10 * MINUTE);
  const steady = new TrendEngine();
  for (const event of events) if (event.at <= cutMs) steady.accept(event);
  const text = JSON.stringify(checkpointOf(steady));
  const old = text.replaceAll(/\\"(squareBuyUsd\\":[\d.e+-]+,|suspects\\":\{[^}]*\},)/g, "");
  expect(old).not.toMatch(/squareBuyUsd|suspects|sizeUsd/);
  const countOnly = text.replaceAll(/\\"(leadUsd|firstSoldUsd)\\":[\d.e+-]+,/g, "");
  expect(countOnly).toMatch(/suspects/);
  expect(countOnly).not.toMatch(/leadUsd|firstSoldUsd/);
  const continued = [
    restoreEngine({ ...JSON.parse(old), version: 19 }),
    restoreEngine({ ...JSON.parse(countOnly), version: 20 }),
  ];
  for (const event of events) {
    if (event.at <= cutMs) continue;
    steady.accept(event);
    for (const engine of continued) {
      engine.accept(event);
      expect(engine.snapshot()).toEqual(steady.snapshot());
    }
  }
  expect(steady.snapshot().flares.pro).toHaveLength(1);
  for (const engine of continued)
    expect(JSON.stringify(checkpointOf(engine))).not.toMatch(/(squareBuyUsd|[lL]eadUsd|SoldUsd)\\":null/);
});
