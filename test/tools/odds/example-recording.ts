/*
 * node test/tools/odds/example-recording.ts
 *
 * Makes examples/data/simulated-pools.ndjson.gz: some tokens of the simulated market's chain, with
 * their trades and liquidity, for backtests. Traders are renumbered and amounts rounded, so that
 * the file is small.
 */
import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { HOUR_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { createSimulatedFeed } from "../../../src/feeds/simulated/simulated-feed.ts";

const SEED = 11;
const START_MS = Date.UTC(2026, 0, 5);
const DURATION_MS = 10 * HOUR_MS;
/** One token in this many is kept. */
const KEPT_OF = 31n;
const DIGITS = 6;

const feed = createSimulatedFeed({
  ...{ seed: SEED, startAtMs: START_MS, warmupMs: 0, durationMs: DURATION_MS },
  ...{ clock: systemClock, speed: Number.POSITIVE_INFINITY },
});
const traders = new Map<string, string>();
const header = { kind: "recording", version: 1, facts: feed.facts, origin: feed.origin };
const lines = [JSON.stringify(header)];
for await (const event of feed.events(new AbortController().signal))
  if (isKept(event)) lines.push(JSON.stringify(shorten(event)));
const bytes = gzipSync(`${lines.join("\n")}\n`, { level: 9 });
writeFileSync(new URL("../../../examples/data/simulated-pools.ndjson.gz", import.meta.url), bytes);
process.stdout.write(`${lines.length} lines, ${bytes.length} bytes\n`);

function isKept(event: MarketEvent): boolean {
  return "token" in event && event.group === "bsc" && BigInt(event.token) % KEPT_OF === 0n;
}

function shorten(event: MarketEvent): MarketEvent {
  if (event.kind === "liquidity") return { ...event, usd: rounded(event.usd) };
  if (event.kind !== "trade") return event;
  const { trader, price, amount, quoteUsd } = event;
  const known = trader === undefined ? undefined : (traders.get(trader) ?? addressOf(traders.size + 1));
  if (trader !== undefined && known !== undefined) traders.set(trader, known);
  return {
    ...event,
    price: rounded(price),
    amount: rounded(amount),
    quoteUsd: rounded(quoteUsd),
    ...(known === undefined ? {} : { trader: known }),
  };
}

function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function rounded(decimal: string): string {
  const value = Number(decimal);
  if (value === 0) return "0";
  const decimals = Math.max(0, DIGITS - 1 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(30, decimals));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
