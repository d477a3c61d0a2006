import { join } from "node:path";
import { expect, test } from "vitest";
import type { MarketEvent } from "../../src/base/market/index.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { BUSY_MINUTES, busyMarket } from "./busy-market.ts";
import { createTeller } from "./told-market.ts";
import { address, drive, MINUTE, START, withClocks } from "./trend-kit.ts";

/** Tokens whose numbers are recorded every 15 minutes: at least one for each outcome. */
const READ = [
  ...[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 100, 101].map((n) => ["bsc", address(n)] as const),
  ...["C1USDT", "C3USDT", "C4USDT", "Q0", "Q1", "Q2"].map((name) => ["exchange", name] as const),
  ...[200, 201, 202, 203, 204].map((n) => ["avalanche", address(n)] as const),
  ...[300, 301, 302].map((n) => ["matic", address(n)] as const),
];

function tellOf(events: readonly MarketEvent[]): readonly string[] {
  const engine = new TrendEngine();
  const teller = createTeller(engine);
  let readMs = START + 15 * MINUTE;
  drive(engine, withClocks(events, START + BUSY_MINUTES * MINUTE, START - 5_000), (snapshot, atMs) => {
    teller.look(snapshot, atMs);
    if (atMs < readMs) return;
    readMs += 15 * MINUTE;
    for (const [group, token] of READ) teller.read(group, token, atMs);
  });
  return [...teller.lines, `rejected ${JSON.stringify(engine.rejected)}`];
}

/*
 * The record shows what a change of the engine means for a user. If a change is intended, review
 * the lines that differ after `npx vitest run --root test engine/busy-market -u`.
 */
test("a market with every form of data matches its record: starts, numbers, warnings, ends, outcomes and ranks", async () => {
  const told = `${tellOf(busyMarket()).join("\n")}\n`;
  await expect(told).toMatchFileSnapshot(join(import.meta.dirname, "busy-market.txt"));
});
