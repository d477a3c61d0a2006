import type {
  Candle,
  MarketEvent,
  MarketGroup,
  Profile,
  Trade,
  Window,
} from "../../src/base/market/index.ts";
import type { Snapshot } from "../../src/base/model/index.ts";
import type { TrendEngine } from "../../src/engine/index.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
/** A whole hour, so that minutes and refresh times are easy to compute. */
export const START = Date.UTC(2026, 2, 2, 12);

/** Returns the n-th token's address. */
export const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;

/** Returns a number as a plain decimal string. */
export const decimal = (value: number) => value.toFixed(10);

/** Returns a purchase at a price of 1, each by another trader. */
export function trade(at: number, token: string, part: Partial<Trade> = {}): Trade {
  return {
    kind: "trade",
    at,
    group: "bsc",
    pool: `pool-${token}`,
    token,
    side: "buy",
    price: "1",
    amount: "10",
    quoteUsd: "10",
    trader: `0x${at.toString(16)}`,
    ...part,
  };
}

/** Returns a candle of the minute that ends at `at`, from `open` to `close`. */
export function candle(
  at: number,
  token: string,
  open: number,
  close: number,
  part: Partial<Candle> = {},
): Candle {
  return {
    kind: "candle",
    at,
    group: "bsc",
    token,
    openAt: at - MINUTE,
    open: decimal(open),
    high: decimal(Math.max(open, close)),
    low: decimal(Math.min(open, close)),
    close: decimal(close),
    volume: "100",
    ...part,
  };
}

export function profile(at: number, token: string, part: Partial<Profile> = {}): Profile {
  const marketData = { market_id: `id-${token}`, image_url: null, name: null };
  return { kind: "profile", at, group: "bsc", token, symbol: `S${token.slice(-4)}`, marketData, ...part };
}

export function listing(
  at: number,
  token: string,
  pool = `pool-${token}`,
  group: MarketGroup = "bsc",
): MarketEvent {
  return { kind: "listing", at, group, pool, token, liquidity: "50000" };
}

/**
 * Returns an event as it is for a token whose listing nobody saw, which is compared with no
 * launches.
 */
export function unlisted(event: MarketEvent): MarketEvent {
  if (event.kind !== "listing") return event;
  const { at, group, pool, token, liquidity: usd } = event;
  return { kind: "liquidity", at, group, pool, token, usd, cause: "sync" };
}

export function liquidity(
  at: number,
  token: string,
  usd: string,
  cause: "sync" | "add" | "remove" = "sync",
  pool = `pool-${token}`,
): MarketEvent {
  return { kind: "liquidity", at, group: "bsc", pool, token, usd, cause };
}

/**
 * Returns an aggregator's report with a price of 1, and 2 purchases and 2 sales of $40 in five
 * minutes, as usual all day.
 */
export function report(at: number, token: string, part: Partial<Window> = {}): Window {
  const usual = (spans: number) => ({
    buys: 2 * spans,
    sells: 2 * spans,
    buyers: 2 * spans,
    sellers: 2 * spans,
    usd: String(40 * spans),
  });
  return {
    kind: "window",
    at,
    group: "bsc",
    pool: `pool-${token}`,
    token,
    price: "1",
    past: { m5: "1", m30: "1", h1: "1" },
    liquidity: "100000",
    counts: { m5: usual(1), h1: usual(12), h24: usual(288) },
    ...part,
  };
}

export const clock = (at: number): MarketEvent => ({ kind: "clock", at });

/** Returns a generator of random numbers in [0, 1) from a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Sorts events by time, with a clock at every whole second from the first to `untilMs`. Candles
 * precede the clock of their time; everything else follows it.
 */
export function withClocks(events: readonly MarketEvent[], untilMs: number, fromMs = START): MarketEvent[] {
  const sorted = [...events].sort((a, b) => a.at - b.at);
  const result: MarketEvent[] = [];
  let next = 0;
  for (let at = fromMs; at <= untilMs; at += SECOND) {
    for (let event = sorted[next]; event && isBefore(event, at); event = sorted[next]) {
      result.push(event);
      next += 1;
    }
    result.push(clock(at));
  }
  return result;
}

function isBefore(event: MarketEvent, clockMs: number): boolean {
  return event.kind === "candle" ? event.at <= clockMs : event.at < clockMs;
}

/**
 * Feeds the events as the poller does, and calls `onSnapshot` with each new snapshot and the clock.
 */
export function drive(
  engine: TrendEngine,
  events: readonly MarketEvent[],
  onSnapshot: (snapshot: Snapshot, atMs: number) => void = () => {},
): Snapshot {
  for (const event of events) {
    engine.accept(event);
    if (event.kind === "clock" && engine.nextChangeAtMs <= engine.clockMs)
      onSnapshot(engine.snapshot(), event.at);
  }
  return engine.snapshot();
}

/** Returns one token's candles: noise of ±0.2 % around `path`, volume 100 times `volume`. */
export function candlePath(
  token: string,
  minutes: number,
  random: () => number,
  path: (minute: number) => number = () => 1,
  volume: (minute: number) => number = () => 1,
  part: Partial<Candle> = {},
): Candle[] {
  const candles: Candle[] = [];
  let before = path(0);
  for (let minute = 0; minute < minutes; minute++) {
    const close = path(minute) * (1 + (random() - 0.5) * 0.004);
    const amount = 100 * volume(minute) * (0.5 + random());
    candles.push(
      candle(START + (minute + 1) * MINUTE, token, before, close, { volume: decimal(amount), ...part }),
    );
    before = close;
  }
  return candles;
}

/** Returns candles of `count` quiet tokens, numbered from 100, so that the group has medians. */
export function quietMarket(count: number, minutes: number, random: () => number): Candle[] {
  return Array.from({ length: count }, (_, n) => candlePath(address(100 + n), minutes, random)).flat();
}
