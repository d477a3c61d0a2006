import pino from "pino";
import { describe, expect, test, vi } from "vitest";
import { loadConfig } from "../../src/app/config/config.ts";
import { openMarket } from "../../src/app/market.ts";
import { MINUTE_MS } from "../../src/base/lib/time/time.ts";
import type { MarketEvent } from "../../src/base/market/index.ts";
import { NETWORKS } from "../../src/feeds/chain/networks.ts";
import { PacedClock } from "../support/time/paced-clock.ts";
import { LiveWorld, WORLD_CHAINS, WORLD_PARTS, type WorldPart } from "./live-world.ts";

/** `npm run soak` sets ten minutes. Above one, each part fails alone, too. */
const MINUTES = Number(process.env.OUTAGE_MINUTES ?? 0);
const PACE = 15;
const IN_STEP_MS = 30_000;
/** A few trades a block prove as much as many, and leave time to the rest. */
const FEW = { pools: 6, swaps: 3, pairs: 8, others: 1 };
const PATIENCE = { timeout: 100_000, interval: 20 };

/** A market that runs in a world, and counts what it emits. */
class LiveMarket implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #clock: PacedClock;
  readonly #feed;
  readonly #reading: Promise<void>;
  /** How often each trade and each candle was emitted. */
  readonly counts = new Map<string, number>();
  /** When each group's last trade was made, and its last candle began. */
  readonly lastAt = new Map<string, number>();
  clockAt = 0;

  constructor(world: LiveWorld, clock: PacedClock) {
    this.#clock = clock;
    const { config } = loadConfig({
      args: [...world.flags, "--warmup", "2m"],
    });
    const logger = pino({ level: "silent" });
    this.#feed = openMarket({ ...config, enrich: [] }, { clock, logger, keys: {} }).feed;
    this.#reading = this.#read();
  }

  part(name: string) {
    return this.#feed.parts?.().find((part) => part.name === name);
  }

  /** All parts contribute, and to the present. */
  get areInStep(): boolean {
    const since = this.#clock.now() - IN_STEP_MS;
    return WORLD_PARTS.every((name) => {
      const { state, observedAtMs = 0 } = this.part(name) ?? {};
      return state === "live" && observedAtMs > since && this.clockAt > since;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    for await (const event of this.#feed.events(this.#stop.signal)) {
      if (event.kind === "clock") {
        // A clock that stands still or goes back would date events twice.
        expect(event.at).toBeGreaterThan(this.clockAt);
        this.clockAt = event.at;
      } else if (event.kind === "trade" || event.kind === "candle") this.#note(event);
    }
  }

  #note(event: Extract<MarketEvent, { kind: "trade" | "candle" }>): void {
    const isTrade = event.kind === "trade";
    const at = isTrade ? (event.tradedAt ?? event.at) : event.openAt;
    const key = isTrade ? tradeKey(at, event.pool, event.side) : `${event.token} ${at}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.lastAt.set(event.group, Math.max(at, this.lastAt.get(event.group) ?? 0));
  }
}

const tradeKey = (at: number, pool: string, side: string) => `${at} ${pool} ${side}`;

/** What the chain has had since that time, was never emitted, and was emitted too often. */
function compare(market: LiveMarket, world: LiveWorld, name: keyof LiveWorld["chains"], fromAt: number) {
  const chain = world.chains[name];
  const last = market.lastAt.get(NETWORKS[name].group) ?? 0;
  const due = new Map<string, number>();
  for (let number = chain.head; chain.atMs(number) > fromAt; number--) {
    const at = chain.atMs(number);
    if (at >= last) continue;
    for (const { pool, side } of chain.tradesOf(number)) {
      const key = tradeKey(at, pool, side);
      due.set(key, (due.get(key) ?? 0) + 1);
    }
  }
  const all = [...due];
  const missing = all.filter(([key, count]) => (market.counts.get(key) ?? 0) < count);
  const repeated = all.filter(([key, count]) => (market.counts.get(key) ?? 0) > count);
  return { due: due.size, missing, repeated };
}

/** The candles since that time that each followed token should have in each minute, and has not. */
function missingCandles(market: LiveMarket, fromAt: number): readonly { token: string; openAt: number }[] {
  const from = Math.ceil(fromAt / MINUTE_MS) * MINUTE_MS;
  const last = market.lastAt.get("exchange") ?? 0;
  const keys = [...market.counts.keys()].filter((key) => /^[A-Z]/.test(key));
  const tokens = new Set(keys.map((key) => key.split(" ")[0] ?? ""));
  const missing: { token: string; openAt: number }[] = [];
  for (const token of tokens)
    for (let openAt = from; openAt < last; openAt += MINUTE_MS)
      if (!market.counts.has(`${token} ${openAt}`)) missing.push({ token, openAt });
  return missing;
}

describe.runIf(MINUTES > 0)("the live market while services fail", () => {
  test(`${MINUTES} minutes without any part repeat and lose no trade, and no candle but those of an exchange's reported outage`, {
    timeout: 120_000 + MINUTES * 240_000,
  }, async () => {
    const clock = new PacedClock(PACE, Date.now());
    await using world = await LiveWorld.open({ clock, density: { bsc: FEW, polygon: FEW, avalanche: FEW } });
    const single: readonly WorldPart[] = MINUTES > 1 ? WORLD_PARTS : [];
    await using market = new LiveMarket(world, clock);
    const never = new AbortController().signal;
    await vi.waitUntil(() => market.areInStep, PATIENCE);
    const begin = market.clockAt;
    const outages: { from: number; to: number }[] = [];
    for (const parts of [...single.map((part) => [part]), WORLD_PARTS]) {
      const from = market.clockAt - MINUTE_MS;
      for (const part of parts) world.stop(part);
      await vi.waitUntil(() => parts.every((part) => market.part(part)?.state === "stale"), PATIENCE);
      const before = market.clockAt;
      await clock.sleep(MINUTES * MINUTE_MS, never);
      // The others continue without the part; without any, time stands still.
      if (parts.length === 1) expect(market.clockAt - before).toBeGreaterThan((MINUTES * MINUTE_MS) / 2);
      else expect(market.clockAt).toBe(before);
      for (const part of parts) world.start(part);
      await vi.waitUntil(() => market.areInStep, PATIENCE);
      if (parts.includes("exchange")) outages.push({ from, to: market.clockAt });
    }
    for (const name of WORLD_CHAINS) {
      const { due, missing, repeated } = compare(market, world, name, begin);
      expect(due).toBeGreaterThan(100);
      expect({ name, missing, repeated }).toEqual({ name, missing: [], repeated: [] });
    }
    const isReported = (at: number) => outages.some(({ from, to }) => at >= from && at <= to);
    expect(missingCandles(market, begin).filter(({ openAt }) => !isReported(openAt))).toEqual([]);
  });
});
