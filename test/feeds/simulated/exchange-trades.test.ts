import { describe, expect, test } from "vitest";
import type { Candle, MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { type Actor, ActorQueue } from "../../../src/feeds/simulated/market/actors/actor.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { MarketFactor } from "../../../src/feeds/simulated/market/episodes/market-factor.ts";
import { Outages } from "../../../src/feeds/simulated/market/outages.ts";
import { createSimulatedMarket } from "../../../src/feeds/simulated/market/simulated-market.ts";
import { Exchange } from "../../../src/feeds/simulated/market/venues/exchange.ts";
import { HOUR, MIDNIGHT, MINUTE, simulate } from "./run.ts";

const VENUE = "venue1";

/** The trades and the candles of the exchange, by token and minute: `token openAt`. */
interface Minutes {
  readonly candles: Map<string, Candle>;
  readonly trades: Map<string, Trade[]>;
  /** Tokens with trades. */
  readonly quick: Set<string>;
  /** Tokens by venue. */
  readonly venues: Map<string, string>;
  readonly labels: readonly Label[];
}

function minutesOf(run: Parameters<typeof simulate>[0]): Minutes {
  const all = { candles: new Map(), trades: new Map(), quick: new Set<string>(), venues: new Map() };
  const labels = simulate(run, (event) => {
    if (event.kind === "profile" && event.market) all.venues.set(event.token, event.market.exchange);
    if (event.kind === "candle") all.candles.set(`${event.token} ${event.openAt}`, event);
    if (event.kind !== "trade" || event.group !== "exchange") return;
    all.quick.add(event.token);
    const key = `${event.token} ${Math.floor(event.at / MINUTE) * MINUTE}`;
    const list = all.trades.get(key) ?? [];
    all.trades.set(key, [...list, event]);
  });
  return { ...all, labels };
}

/** Returns what the actors emit up to this time. */
function eventsOf(actors: readonly Actor[], untilMs: number): readonly MarketEvent[] {
  const queue = new ActorQueue();
  for (const actor of actors) queue.add(actor);
  const events: MarketEvent[] = [];
  for (let actor = queue.first; actor && actor.nextAtMs <= untilMs; actor = queue.first) {
    actor.act(events);
    queue.firstHasActed();
  }
  return events;
}

const sum = (list: readonly Trade[]) => list.reduce((all, { amount }) => all + Number(amount), 0);

/** How many outages and rises the seeds have. */
const seen = { outages: 0, rises: 0 };

describe.each(["one", "three", "six"])("trades of the exchange, seed %s", (seed) => {
  const beginAtMs = MIDNIGHT + 5 * HOUR + 4_321;
  const hours = 5;
  const { candles, trades, quick, venues, labels } = minutesOf({ seed, hours, tokens: 200, beginAtMs });
  /** Minutes whose candle is within the run. */
  const whole = [...trades].filter(([, [first]]) => (first?.at ?? 0) < beginAtMs + hours * HOUR - MINUTE);

  test("some pairs of one venue have trades, and other pairs of that and all of other venues have candles only", () => {
    expect(quick.size).toBeGreaterThan(2);
    for (const token of quick) expect(venues.get(token)).toBe(VENUE);
    const candled = new Set([...candles.values()].map(({ token }) => token));
    expect(candled.size).toBeGreaterThan(2 * quick.size);
    for (const token of quick) expect(candled).toContain(token);
  });

  test("a minute has trades if and only if it has a candle, as many as the candle counts", () => {
    expect(whole.length).toBeGreaterThan(200);
    for (const [key, list] of whole) expect(candles.get(key)?.trades, key).toBe(list.length);
    for (const [key, { token }] of candles) if (quick.has(token)) expect(trades.get(key), key).toBeDefined();
  });

  test("the amounts add up to the candle's volume, and those bought to its bought volume", () => {
    for (const [key, list] of whole) {
      const candle = candles.get(key);
      const volume = Number(candle?.volume);
      expect(Math.abs(sum(list) / volume - 1), key).toBeLessThan(1e-6);
      const bought = sum(list.filter(({ side }) => side === "buy"));
      const off = Math.abs(bought - Number(candle?.buyVolume)) / volume;
      // A single trade has one side.
      expect(off, key).toBeLessThan(list.length === 1 ? 0.5 + 1e-6 : 1e-6);
    }
  });

  test("the prices are within the candle's, reach them if the trades are enough, and end with its close", () => {
    const sizes = new Set<number>();
    for (const [key, list] of whole) {
      const candle = candles.get(key);
      const prices = list.map(({ price }) => Number(price));
      sizes.add(Math.min(5, list.length));
      expect(list.at(-1)?.price, key).toBe(candle?.close);
      if (list.length >= 4) expect(list[0]?.price, key).toBe(candle?.open);
      const [low, high] = [Math.min(...prices), Math.max(...prices)];
      if (list.length >= 3) expect([low, high], key).toEqual([Number(candle?.low), Number(candle?.high)]);
      expect(low, key).toBeGreaterThanOrEqual(Number(candle?.low));
      expect(high, key).toBeLessThanOrEqual(Number(candle?.high));
    }
    expect([...sizes].sort()).toEqual([1, 2, 3, 4, 5]);
  });

  test("trades come in the order of time, name no trader, and none occurs in an outage of their venue", () => {
    const outages = labels.filter(({ kind, shape }) => kind === "outage" && shape === "venue 1");
    seen.outages += outages.length;
    let last = 0;
    for (const { at, trader } of [...trades.values()].flat().sort((one, other) => one.at - other.at)) {
      expect(trader).toBeUndefined();
      expect(outages.some(({ startAtMs, endAtMs }) => at >= startAtMs && at < endAtMs)).toBe(false);
      last = at;
    }
    expect(last).toBeGreaterThan(beginAtMs + hours * HOUR - MINUTE);
    for (const list of trades.values())
      expect(list.map(({ at }) => at)).toEqual(list.map(({ at }) => at).sort((one, other) => one - other));
  });

  test("most trades in a pump's rise buy, and some orders have at least four fills in one millisecond", () => {
    const rises = labels.filter(
      ({ kind, token, shape }) => kind === "pump" && quick.has(token ?? "") && shape !== "slow-burn",
    );
    const all = [...trades.values()].flat();
    for (const { token, startAtMs, peakAtMs } of rises) {
      const own = all.filter(
        ({ token: name, at }) => name === token && at > startAtMs && at < (peakAtMs ?? 0),
      );
      if (own.length < 30) continue;
      seen.rises += 1;
      const buys = own.filter(({ side }) => side === "buy");
      expect(buys.length / own.length).toBeGreaterThan(0.65);
      const byTime = Map.groupBy(buys, ({ at }) => at);
      expect(Math.max(...[...byTime.values()].map((fills) => fills.length))).toBeGreaterThanOrEqual(4);
    }
  });
});

test("the seeds above have outages of the venue and rises", () => {
  expect(seen.outages).toBeGreaterThan(0);
  expect(seen.rises).toBeGreaterThan(2);
});

test("[L4] the candles do not depend on the trades", () => {
  const ALWAYS_UP = class extends Outages {
    override overlaps(): boolean {
      return false;
    }
  };
  const play = (withTrades: boolean) => {
    const labels: Label[] = [];
    const onLabel = (label: Label) => labels.push(label);
    const factor = new MarketFactor("1", 1, MIDNIGHT, onLabel);
    const venue = new ALWAYS_UP("1", { group: "exchange", shape: "venue 1" }, 3, MIDNIGHT, onLabel);
    const venues = withTrades ? [venue] : [];
    const exchange = new Exchange("1", 60, factor, onLabel, 2, MIDNIGHT, venues);
    const events = eventsOf([factor, exchange], MIDNIGHT + 12 * HOUR);
    return { labels, ...Object.groupBy(events, ({ kind }) => (kind === "candle" ? "candles" : "trades")) };
  };
  const quick = play(true);
  const slow = play(false);
  expect(quick.trades?.length).toBeGreaterThan(10_000);
  expect(quick.labels.length).toBeGreaterThan(20);
  expect(slow).toEqual({ labels: quick.labels, candles: quick.candles });
});

test("a trade is emitted at its time, not at its minute's end", () => {
  const market = createSimulatedMarket({ seed: 1, beginAtMs: MIDNIGHT, tokens: 200 });
  let count = 0;
  for (let at = MIDNIGHT; at < MIDNIGHT + 10 * MINUTE; at += 100) {
    const events: MarketEvent[] = [];
    market.advanceTo(at, events);
    for (const event of events) {
      if (event.kind !== "trade" || event.group !== "exchange") continue;
      count += 1;
      expect(at - event.at).toBeLessThan(100);
    }
  }
  expect(count).toBeGreaterThan(50);
});

test("a pump starts a flare by its seconds", () => {
  const labels: Label[] = [];
  const onLabel = (label: Label) => labels.push(label);
  const factor = new MarketFactor("1", 1, MIDNIGHT, onLabel);
  const exchange = new Exchange("1", 400, factor, onLabel, 2, MIDNIGHT, [
    new Outages("1", { group: "exchange", shape: "venue 1" }, 3, MIDNIGHT, onLabel),
  ]);
  const queue = new ActorQueue();
  queue.add(factor);
  queue.add(exchange);
  const engine = new TrendEngine({});
  const forms = new Set<string | undefined>();
  const piece: MarketEvent[] = [];
  for (let at = MIDNIGHT; at <= MIDNIGHT + 3 * HOUR && !forms.has("seconds"); at += 1_000) {
    piece.length = 0;
    for (let actor = queue.first; actor && actor.nextAtMs <= at; actor = queue.first) {
      actor.act(piece);
      queue.firstHasActed();
    }
    for (const event of piece) engine.accept(event);
    engine.accept({ kind: "clock", at });
    const traded = new Set(piece.flatMap((event) => (event.kind === "trade" ? [event.token] : [])));
    for (const token of traded) {
      if (engine.trendOf("exchange", token)?.flaringSinceMs !== at) continue;
      const { explanations, ...lists } = engine.snapshot();
      const started = lists["flares.exchange"].pro.find((flare) => flare.token.symbol === token);
      forms.add(explanations[started?.id ?? ""]?.form);
    }
  }
  expect([...forms]).toContain("seconds");
});
