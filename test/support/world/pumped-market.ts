import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2017, 10, 12);
const TOKENS = ["ONE", "TWO", "SIX"];
const QUIET_MINUTES = 60;
const PUMP_EVERY_MINUTES = 20;
const RISE_MINUTES = 6;

/**
 * Writes a recording of candles in which a flare starts every 20 minutes after the first hour. It
 * costs far less than the recorded day, which has few flares among many tokens.
 */
export function writePumpedMarket(path: string, hours: number): string {
  const lines = ["time_ms,pair,open,high,low,close,volume"];
  for (let minute = 0; minute < hours * 60; minute += 1)
    for (const [index, token] of TOKENS.entries()) {
      const [open, close] = [priceOf(index, minute - 1), priceOf(index, minute)];
      const prices = [open, Math.max(open, close), Math.min(open, close), close].map((price) =>
        price.toFixed(6),
      );
      const volume = sinceOwnPump(index, minute) < RISE_MINUTES ? 400 : 10 + ((minute * 7 + index) % 5);
      lines.push([START_MS + minute * MINUTE_MS, `BTC_${token}`, ...prices, volume].join());
    }
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

let day: string | undefined;

/** Returns a day of this market, written once and shared by the tests of a process. */
export function pumpedDay(): string {
  if (day) return day;
  const directory = mkdtempSync(join(tmpdir(), "flarewire-pumped-"));
  day = writePumpedMarket(join(directory, "market.csv"), 24);
  return day;
}

/** Settings of a gateway that replays this day with dozens of events a second. */
export const pumpedSettings = () =>
  ({ feed: "replay", file: pumpedDay(), group: "bsc", loop: true, warmup: "1h", speed: 1_200 }) as const;

/** The same day as command-line flags. */
export const pumpedFlags = () => ["--feed", "replay", "--file", pumpedDay(), "--group", "bsc"] as const;

/** The price rises by 3 % a minute during a pump, then falls back equally fast. */
function priceOf(index: number, minute: number): number {
  const since = sinceOwnPump(index, minute);
  const steps = since < RISE_MINUTES ? since + 1 : Math.max(0, 2 * RISE_MINUTES - since - 1);
  return 1.03 ** steps * (1 + ((minute * 5 + index) % 7) / 10_000);
}

/** Returns the minutes since the token's last pump started. The tokens are pumped in turn. */
function sinceOwnPump(index: number, minute: number): number {
  const since = minute - QUIET_MINUTES - index * PUMP_EVERY_MINUTES;
  return since < 0 ? Number.POSITIVE_INFINITY : since % (TOKENS.length * PUMP_EVERY_MINUTES);
}
