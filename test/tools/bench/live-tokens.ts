import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createConfig } from "../../../src/app/config/config.ts";
import { EngineCheckpoints } from "../../../src/app/data/engine-checkpoints.ts";
import { openPersistence } from "../../../src/app/data/file-persistence.ts";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { listsOf, type Snapshot } from "../../../src/base/protocol/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { Head } from "../../../src/gateway/hub/index.ts";
import { toEvents } from "../../../src/gateway/source/index.ts";
import type { Row } from "./report.ts";

const BEGIN_MS = Date.UTC(2026, 0, 1);
const FACTS = { trades: true, liquidity: true, listings: true, profiles: true };
/** The same for every number of tokens, so that only this number differs. */
const TRADES_PER_SECOND = 1_000;
/** Trades of each token before the measurement, on average. */
const WARM_TRADES = 6;
const WARM_MINUTES = 3;
const MEASURED_MINUTES = 2;
/** Trades per CPU second to reach, by the number of live tokens. */
const AIMS: Readonly<Record<number, number>> = { 100: 200_000, 1000: 150_000, 10000: 120_000, 50000: 80_000 };
export const LIVE_TOKENS = Object.keys(AIMS).map(Number);

/** Events that reach the engine in one turn while the state is stored. */
const EVENTS_PER_TURN = 50;
/** Traders of each token. */
const TRADERS = 200;

/** Trades of a fixed number of tokens, each in its own pool and equally likely to trade. */
class LiveMarket {
  readonly #tokens: { readonly token: string; readonly pool: string; price: number }[];
  #atMs = BEGIN_MS;
  #random = 1;

  constructor(tokens: number) {
    this.#tokens = Array.from({ length: tokens }, (_, index) => ({
      token: address(index + 1),
      pool: address(1e9 + index),
      price: 0.1 + this.#draw(),
    }));
  }

  opening(): MarketEvent[] {
    return this.#tokens.flatMap(({ token, pool }): MarketEvent[] => [
      {
        ...{ kind: "profile", at: BEGIN_MS, group: "bsc", token, symbol: token.slice(-6) },
        marketData: { market_id: token, image_url: null, name: null },
      },
      { kind: "liquidity", at: BEGIN_MS, group: "bsc", pool, token, usd: "50000", cause: "sync" },
    ]);
  }

  /** Returns the events of the next second, which ends with a clock. */
  second(): MarketEvent[] {
    const events = Array.from({ length: TRADES_PER_SECOND }, (_, index) =>
      this.#trade(this.#atMs + Math.floor((index * SECOND_MS) / TRADES_PER_SECOND)),
    );
    this.#atMs += SECOND_MS;
    return [...events, { kind: "clock", at: this.#atMs }];
  }

  #trade(at: number): MarketEvent {
    const one = this.#tokens[Math.floor(this.#draw() * this.#tokens.length)];
    if (!one) throw new RangeError("a market needs a token");
    one.price *= 1 + (this.#draw() - 0.5) * 0.004;
    return {
      ...{ kind: "trade", at, group: "bsc", pool: one.pool, token: one.token },
      side: this.#draw() < 0.5 ? "buy" : "sell",
      price: one.price.toFixed(8),
      amount: "100",
      quoteUsd: (20 + this.#draw() * 200).toFixed(2),
      trader: address(2e9 + Math.floor(this.#draw() * this.#tokens.length * TRADERS)),
    };
  }

  /** Mulberry32. */
  #draw(): number {
    this.#random = (this.#random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#random ^ (this.#random >>> 15), 1 | this.#random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

function address(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/** An engine that is read as the gateway does, once a second if something may have changed. */
class Fed {
  readonly engine = new TrendEngine({ facts: FACTS });
  before: Snapshot = this.engine.snapshot();

  take(events: readonly MarketEvent[]): void {
    for (const event of events) {
      this.engine.accept(event);
      if (event.kind !== "clock" || this.engine.nextChangeAtMs > this.engine.clockMs) continue;
      const after = this.engine.snapshot();
      toEvents(this.before, after, this.engine.clockMs);
      this.before = after;
    }
  }
}

/**
 * Measures trades per CPU second with this many live tokens, and the longest turns while their
 * state is stored in a file.
 */
async function measureLive(tokens: number): Promise<Row[]> {
  const market = new LiveMarket(tokens);
  const fed = new Fed();
  fed.take([{ kind: "clock", at: BEGIN_MS }, ...market.opening()]);
  const warmMinutes = Math.ceil((tokens * WARM_TRADES * SECOND_MS) / (TRADES_PER_SECOND * MINUTE_MS));
  for (let n = Math.max(WARM_MINUTES, warmMinutes) * 60; n > 0; n--) fed.take(market.second());
  let cpu = 0;
  for (let n = MEASURED_MINUTES * 60; n > 0; n--) {
    const events = market.second();
    const began = cpuSeconds();
    fed.take(events);
    cpu += cpuSeconds() - began;
  }
  const trades = MEASURED_MINUTES * 60 * TRADES_PER_SECOND;
  const aim = AIMS[tokens]?.toLocaleString("en-US");
  const rate = {
    what: `${TRADES_PER_SECOND} trades a second in ${tokens} live tokens (${cpu.toFixed(2)} s of CPU)`,
    ...{ value: trades / cpu, unit: "trades/CPU s", aim: aim ? `≥ ${aim}` : "–" },
  };
  return [rate, ...(await storeState(fed, market))];
}

/** The longest turns of the event loop, in milliseconds of this thread's CPU, by what they did. */
class Turns {
  readonly longest = { store: 0, engine: 0 };
  #since = threadMs();

  end(what: keyof Turns["longest"]): void {
    const now = threadMs();
    this.longest[what] = Math.max(this.longest[what], now - this.#since);
    this.#since = now;
  }
}

/** Stores the state beside the engine's work, as `serve` does. */
async function storeState(fed: Fed, market: LiveMarket): Promise<Row[]> {
  const data = mkdtempSync(join(tmpdir(), "flarewire-bench-"));
  let skippedMs = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs };
  const identity = { name: "bench", fingerprint: "bench", needsEngine: false };
  const config = createConfig({ data });
  const persistence = openPersistence({ config, clock, logger: createLogger("silent"), identity });
  const { engine } = fed;
  const checkpoints = new EngineCheckpoints(engine);
  try {
    const log = persistence.createLog();
    const head = new Head({ log, initial: { snapshot: fed.before, observedAtMs: engine.clockMs } });
    const now = { head, history: { lists: listsOf(fed.before) } };
    // At a start, the market waits for its first state. The next one is of interest.
    await persistence.onPublished(now);
    skippedMs = MINUTE_MS;
    let isPacked = false;
    const progress = () => {
      const { slices, ...checkpoint } = checkpoints.begin();
      const watched = noteEnd(slices, () => {
        isPacked = true;
      });
      return { afterMs: engine.clockMs, checkpoint, slices: watched };
    };
    const turns = new Turns();
    const began = performance.now();
    await persistence.onPublished(now, progress);
    while (!isPacked) {
      const events = market.second();
      for (let at = 0; at < events.length; at += EVENTS_PER_TURN) {
        await nextTurn();
        const some = events.slice(at, at + EVENTS_PER_TURN);
        while (some.some((event) => checkpoints.packBefore(event))) {
          turns.end("store");
          await nextTurn();
        }
        turns.end("store");
        fed.take(some);
        turns.end("engine");
      }
    }
    const tookMs = performance.now() - began;
    await persistence.close();
    turns.end("store");
    const what = `storing ${engine.tokenCount} tokens in ${(tookMs / 1_000).toFixed(1)} s: its longest turn`;
    return [
      { what, value: turns.longest.store, unit: "CPU ms", aim: "≤ 50" },
      { what: "the engine's longest turn meanwhile", value: turns.longest.engine, unit: "CPU ms", aim: "–" },
    ];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

function* noteEnd(slices: Iterable<string>, onEnd: () => void): Generator<string, void, void> {
  yield* slices;
  onEnd();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns the CPU milliseconds of this thread. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Returns the CPU seconds of all threads, including garbage collectors and compilers. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(JSON.stringify(await measureLive(Number(process.argv[2]))));
