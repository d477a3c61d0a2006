import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import { LIVE_TOKENS } from "./live-tokens.ts";
import { median, type Row } from "./report.ts";

const BEGIN_MS = Date.UTC(2026, 0, 1);
const FACTS = { trades: true, liquidity: true, listings: true, profiles: true };
/** The simulated market then has about a hundred trades a second, in about two thousand tokens. */
const TOKENS = 2_500;
/** Factors by which event time is compressed, which multiplies the trades per second. */
const SPEEDUPS = [2, 20, 50, 500] as const;
/** The factor for the day, which results in a hundred trades a second. */
const DAY_SPEEDUP = 1.1;

/**
 * Measures the trend engine: first with a constant number of live tokens ({@link LIVE_TOKENS},
 * only small ones for less than 0.1 `hours`). Then on the simulated market: trades per CPU second
 * at several rates with a snapshot of each changed second, the snapshot and the diff after a
 * minute, and `hours` of the market including its generation. Each suite runs in its own process,
 * so that its peak memory is its own. `hours` is at least 0.01; the rates use at most an hour.
 */
export function benchEngine(hours = 24): Row[] {
  const live = LIVE_TOKENS.filter((tokens) => hours >= 0.1 || tokens <= 1_000);
  const rates = SPEEDUPS.flatMap((speedup) => inOwnProcess("rate", hours, speedup));
  return [
    ...live.flatMap((tokens) => runAlone("live-tokens.ts", `${tokens}`)),
    ...rates,
    ...inOwnProcess("looks", hours, 1),
    ...inOwnProcess("day", hours, DAY_SPEEDUP),
  ];
}

function inOwnProcess(suite: string, hours: number, speedup: number): Row[] {
  return runAlone("engine.ts", suite, `${hours}`, `${speedup}`);
}

/** Runs a file of this folder in its own process. */
function runAlone(file: string, ...args: readonly string[]): Row[] {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawnSync(process.execPath, [path, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.status !== 0)
    throw new Error(`${file} ${args.join(" ")} exited with ${child.status ?? child.signal}`);
  const rows: Row[] = JSON.parse(child.stdout);
  return rows;
}

/**
 * An engine that is read as the gateway does: at each clock event, if something may have changed.
 */
class Watched {
  readonly engine = new TrendEngine({ facts: FACTS });
  #before = this.engine.snapshot();
  looks = 0;
  trades = 0;

  take(events: readonly MarketEvent[]): void {
    for (const event of events) {
      this.engine.accept(event);
      if (event.kind === "trade") this.trades += 1;
      else if (event.kind === "clock") this.#look();
    }
  }

  #look(): void {
    if (this.engine.nextChangeAtMs > this.engine.clockMs) return;
    const after = this.engine.snapshot();
    toEvents(this.#before, after, this.engine.clockMs);
    this.#before = after;
    this.looks += 1;
  }
}

/**
 * Returns the CPU seconds of this process, of all threads, including garbage collectors and
 * compilers.
 */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function marketOf(seed: number) {
  return createSimulatedMarket({ seed, beginAtMs: BEGIN_MS, tokens: TOKENS });
}

/**
 * Returns the chains' events with their time compressed by `speedup`, and clock events at the new
 * seconds. Omits candles, because they need whole minutes.
 */
function compressTime(
  events: readonly MarketEvent[],
  speedup: number,
  clock: { nextMs: number },
): MarketEvent[] {
  const hastened: MarketEvent[] = [];
  for (const event of events) {
    if (event.kind === "clock" || event.kind === "candle") continue;
    const at = BEGIN_MS + Math.floor((event.at - BEGIN_MS) / speedup);
    for (; clock.nextMs <= at; clock.nextMs += 1_000) hastened.push({ kind: "clock", at: clock.nextMs });
    hastened.push({ ...event, at });
  }
  return hastened;
}

function rate(hours: number, speedup: number): Row[] {
  const market = marketOf(1);
  const watched = new Watched();
  const clock = { nextMs: BEGIN_MS + 1_000 };
  const endMs = BEGIN_MS + 2 * Math.min(1, hours) * HOUR_MS;
  const warmMs = (BEGIN_MS + endMs) / 2;
  let cpu = 0;
  let wallMs = 0;
  let warmTrades = 0;
  let warmClockMs = 0;
  for (let at = BEGIN_MS + MINUTE_MS / 2; at <= endMs; at += MINUTE_MS / 2) {
    const piece: MarketEvent[] = [];
    market.advanceTo(at, piece);
    const events = compressTime(piece, speedup, clock);
    const began = performance.now();
    const beganCpu = cpuSeconds();
    watched.take(events);
    if (at > warmMs) {
      cpu += cpuSeconds() - beganCpu;
      wallMs += performance.now() - began;
    } else {
      warmTrades = watched.trades;
      warmClockMs = clock.nextMs;
    }
  }
  const trades = watched.trades - warmTrades;
  const perSecond = Math.round(trades / Math.max(1, (clock.nextMs - warmClockMs) / 1_000));
  return [
    {
      what: `trades into ${watched.engine.tokenCount} tokens, ${perSecond} an event second (${trades} in ${seconds(cpu)} s of CPU, ${seconds(wallMs / 1_000)} s of wall time)`,
      value: trades / cpu,
      unit: "trades/CPU s",
      aim: "≥ 300,000",
    },
  ];
}

function looks(hours: number): Row[] {
  const market = marketOf(1);
  const engine = new TrendEngine({ facts: FACTS });
  const snapshots: number[] = [];
  const diffs: number[] = [];
  let before = engine.snapshot();
  const endMs = BEGIN_MS + Math.min(1, hours) * HOUR_MS;
  for (let at = BEGIN_MS + MINUTE_MS / 2; at <= endMs; at += MINUTE_MS / 2) {
    const piece: MarketEvent[] = [];
    market.advanceTo(at, piece);
    for (const event of piece) engine.accept(event);
    const began = performance.now();
    const after = engine.snapshot();
    const taken = performance.now();
    toEvents(before, after, engine.clockMs);
    snapshots.push(taken - began);
    diffs.push(performance.now() - taken);
    before = after;
  }
  const tokens = engine.tokenCount;
  return [
    { what: `snapshot of ${tokens} tokens, median`, value: median(snapshots), unit: "ms", aim: "< 5" },
    { what: "diff of it against that of 30 s before, median", value: median(diffs), unit: "ms", aim: "< 2" },
  ];
}

function day(hours: number, speedup: number): Row[] {
  const market = marketOf(2);
  const watched = new Watched();
  const clock = { nextMs: BEGIN_MS + 1_000 };
  const began = performance.now();
  const beganCpu = cpuSeconds();
  let cpu = 0;
  for (let at = BEGIN_MS + MINUTE_MS; at <= BEGIN_MS + hours * HOUR_MS * speedup; at += MINUTE_MS) {
    const piece: MarketEvent[] = [];
    market.advanceTo(at, piece);
    const events = compressTime(piece, speedup, clock);
    const fed = cpuSeconds();
    watched.take(events);
    cpu += cpuSeconds() - fed;
  }
  const wall = (performance.now() - began) / 1_000;
  const making = cpuSeconds() - beganCpu - cpu;
  const tradesPerSecond = Math.round(watched.trades / (hours * 3_600));
  return [
    {
      what: `${hours} h of ${tradesPerSecond} trades/s in ${watched.engine.tokenCount} tokens, ${watched.looks} looks (making the market cost ${seconds(making)} s of CPU more; ${seconds(wall)} s of wall time in all)`,
      value: cpu,
      unit: "CPU s",
      aim: "< 60 for 24 h",
    },
    {
      what: "most memory held at that",
      value: process.resourceUsage().maxRSS / 1_024,
      unit: "MiB",
      aim: "< 512",
    },
  ];
}

function seconds(value: number): string {
  return value.toFixed(2);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , suite, hours, speedup] = process.argv;
  const suites: Readonly<Record<string, (hours: number, speedup: number) => Row[]>> = { rate, looks, day };
  const run = suites[suite ?? ""];
  if (!run) throw new RangeError(`no suite ${suite}`);
  process.stdout.write(JSON.stringify(run(Number(hours), Number(speedup))));
}
