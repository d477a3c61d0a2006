import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MarketEvent, type Trade } from "../../../src/base/market/index.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { eventsOf, HOUR, MIDNIGHT, MINUTE, simulate } from "./run.ts";

function digestOf(run: Parameters<typeof simulate>[0]): string {
  const hash = createHash("sha256");
  const labels = simulate(run, (event) => hash.update(JSON.stringify(event)));
  return hash.update(JSON.stringify(labels)).digest("hex");
}

describe("determinism", () => {
  test("[L4] the same seed and start give the same bytes, including labels", () => {
    const run = { seed: "again", hours: IS_SOAK ? 2 : 0.5 };
    expect(digestOf(run)).toBe(digestOf(run));
  });

  test("[L4] events do not depend on the steps in which time advances", () => {
    const hours = IS_SOAK ? 1 : 0.3;
    const whole = digestOf({ hours, pieceMs: HOUR });
    expect(digestOf({ hours, pieceMs: 1_000 })).toBe(whole);
    expect(digestOf({ hours, pieceMs: 7_333 })).toBe(whole);
  });

  test("another seed, or another start, gives another market", () => {
    const first = digestOf({ seed: 1, hours: 0.2 });
    expect(digestOf({ seed: "1", hours: 0.2 })).toBe(first);
    expect(digestOf({ seed: 2, hours: 0.2 })).not.toBe(first);
    expect(digestOf({ seed: 1, hours: 0.2, beginAtMs: MIDNIGHT + 1 })).not.toBe(first);
  });

  test("a token's events do not depend on the number of other tokens", () => {
    const tradesOf = (tokens: number) => {
      const byToken = new Map<string, Trade[]>();
      for (const event of eventsOf({ tokens, hours: 1 })) {
        if (event.kind !== "trade") continue;
        byToken.set(event.token, [...(byToken.get(event.token) ?? []), event]);
      }
      return byToken;
    };
    const few = tradesOf(20);
    const many = tradesOf(60);
    expect(few.size).toBeGreaterThan(20);
    for (const [token, trades] of few) expect(many.get(token), token).toEqual(trades);
  });
});

describe("invariants of events", () => {
  const hours = IS_SOAK ? 3 : 1;
  const events = eventsOf({ hours, tokens: 160, beginAtMs: MIDNIGHT + 9 * HOUR + 123 });

  test("each matches the schema of market events exactly", () => {
    const share = events.filter((_, index) => IS_SOAK || index % 10 === 0);
    const offenders = share.filter((event) => {
      const parsed = MarketEvent.safeParse(event);
      return (
        !parsed.success ||
        JSON.stringify(Object.entries(parsed.data).sort()) !== JSON.stringify(Object.entries(event).sort())
      );
    });
    expect(offenders).toEqual([]);
  });

  test("they are in the order of time, and a clock closes every second", () => {
    const clocks = events.filter(({ kind }) => kind === "clock").map(({ at }) => at);
    const first = Math.ceil((events[0]?.at ?? 0) / 1_000) * 1_000;
    expect(clocks).toEqual(Array.from({ length: hours * 3_600 }, (_, index) => first + index * 1_000));
    let closed = Number.NEGATIVE_INFINITY;
    let last = 0;
    const offenders = events.filter((event) => {
      const isLate = event.at < last || event.at <= closed;
      const isEarly = closed > 0 && event.at > closed + 1_000;
      last = event.at;
      if (event.kind === "clock") closed = event.at;
      return isLate || isEarly;
    });
    expect(offenders).toEqual([]);
  });

  test("a pool's liquidity is reported within the half hour before a removal", () => {
    const reportedAt = new Map<string, number>();
    let removals = 0;
    const offenders = events.filter((event) => {
      if (event.kind !== "liquidity") return false;
      const before = reportedAt.get(event.pool) ?? Number.NEGATIVE_INFINITY;
      reportedAt.set(event.pool, event.at);
      if (event.cause !== "remove") return false;
      removals += 1;
      return event.at - before > 30 * MINUTE;
    });
    expect(offenders).toEqual([]);
    expect(removals).toBeGreaterThan((hours * 10) / 3);
  });

  test("prices, amounts and sizes are above 0, and price times amount is the size", () => {
    const trades = events.filter((event) => event.kind === "trade");
    const offenders = trades.filter(({ price, amount, quoteUsd }) => {
      const [one, count, usd] = [Number(price), Number(amount), Number(quoteUsd)];
      return !(one > 0 && count > 0 && usd > 0) || Math.abs(one * count - usd) > 1e-4 + usd * 1e-6;
    });
    expect(trades.length).toBeGreaterThan((hours * 50_000) / 3);
    expect(offenders).toEqual([]);
  });

  test("a candle spans a whole minute, has its prices between low and high, and opens where the last one closed", () => {
    const closes = new Map<string, string>();
    let count = 0;
    for (const event of events) {
      if (event.kind !== "candle") continue;
      count += 1;
      expect(event.openAt % MINUTE).toBe(0);
      expect(event.at).toBe(event.openAt + MINUTE);
      const [open, high, low, close] = [event.open, event.high, event.low, event.close].map(Number);
      expect(Math.min(open ?? 0, close ?? 0)).toBeGreaterThanOrEqual(low ?? 0);
      expect(Math.max(open ?? 0, close ?? 0)).toBeLessThanOrEqual(high ?? 0);
      expect(Number(event.buyVolume)).toBeLessThanOrEqual(Number(event.volume));
      expect(event.trades).toBeGreaterThan(0);
      expect(event.open).toBe(closes.get(event.token) ?? event.open);
      closes.set(event.token, event.close);
    }
    expect(count).toBeGreaterThan((hours * 20 * 100) / 3);
  });

  test("a token's profile and, on a chain, its liquidity precede its trades, and each pool has one token", () => {
    const profiled = new Set<string>();
    const pools = new Map<string, string>();
    const offenders = events.filter((event) => {
      if (!("token" in event)) return false;
      const token = `${event.group}/${event.token}`;
      if (event.kind === "profile") profiled.add(token);
      if (event.kind === "liquidity" && !pools.has(event.pool)) pools.set(event.pool, token);
      const isOfPool = event.group !== "exchange" && (event.kind === "trade" || event.kind === "liquidity");
      return !profiled.has(token) || (isOfPool && pools.get(event.pool) !== token);
    });
    expect(offenders).toEqual([]);
    expect(pools.size).toBeGreaterThan(new Set(pools.values()).size);
  });

  test("every link uses a domain reserved for examples", () => {
    const text = JSON.stringify(events.filter((event) => event.kind === "profile"));
    const hosts = [...text.matchAll(/https?:\/\/([^/"]+)/g)].map((match) => match[1] ?? "");
    expect(hosts.length).toBeGreaterThan(100);
    expect(hosts.filter((host) => !host.endsWith(".example"))).toEqual([]);
  });
});

test("a label is reported no later than the second of its episode's first event", () => {
  const labeled = new Set<string | null>();
  const market = createSimulatedMarket({
    seed: 1,
    beginAtMs: MIDNIGHT,
    tokens: 20,
    onLabel: ({ kind, token }) => {
      if (kind === "listing" || kind === "migration") labeled.add(token);
    },
  });
  let listings = 0;
  for (let at = MIDNIGHT; at < MIDNIGHT + 2 * HOUR; at += 1_000) {
    const events: MarketEvent[] = [];
    market.advanceTo(at, events);
    for (const event of events) {
      if (event.kind !== "listing") continue;
      listings += 1;
      expect(labeled.has(event.token)).toBe(true);
    }
  }
  expect(listings).toBeGreaterThan(15);
});
