import { expect, test } from "vitest";
import type { MarketEvent, Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { type Actor, ActorQueue } from "../../../src/feeds/simulated/market/actors/actor.ts";
import { TwoSidedBots } from "../../../src/feeds/simulated/market/actors/two-sided-bots.ts";
import { Wallets } from "../../../src/feeds/simulated/market/actors/wallets.ts";
import { ChainToken } from "../../../src/feeds/simulated/market/chain-token.ts";
import type { Label } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { MarketFactor } from "../../../src/feeds/simulated/market/episodes/market-factor.ts";
import { planPump } from "../../../src/feeds/simulated/market/episodes/plan-pump.ts";
import { Outages } from "../../../src/feeds/simulated/market/outages.ts";
import { firstProfile } from "../../../src/feeds/simulated/market/profiles.ts";
import { Random } from "../../../src/feeds/simulated/market/random.ts";
import { HOUR, MIDNIGHT, MINUTE } from "./run.ts";

const PUMP_MS = MIDNIGHT + 7 * HOUR;
const BOTS = { wallets: 40, perMinute: 1.5 };

/** Returns one token with bots, pumped after seven hours, and its first events. */
function tokenWithBots(seed: string, peoplePerMinute: number) {
  const labels: Label[] = [];
  const onLabel = (label: Label) => labels.push(label);
  const random = new Random(seed);
  const chain = {
    marketFactor: new MarketFactor(seed, 1, MIDNIGHT, onLabel),
    wallets: new Wallets(seed, "bsc"),
    nativeUsd: 300,
    // Never queued, so that there is none.
    outages: new Outages(seed, { group: "bsc", shape: "chain" }, 2, MIDNIGHT, onLabel),
    onLabel,
  };
  const naming = { name: "With Bots", symbol: "BOTS" };
  const subject = { group: "bsc", token: random.address(), naming, createdAtMs: 0 } as const;
  const episodes = [{ atMs: PUMP_MS, plan: planPump }];
  const traits = {
    rank: 3,
    subject,
    pool: random.address(),
    quotedIn: "stable",
    value: { startUsd: 1, volatility: 0.001, beta: 1 },
    liquidityUsd: 150_000,
    feeShare: 0.0025,
    tradesPerMs: () => peoplePerMinute / MINUTE,
    branching: 0.3,
    arbitrageChance: 0.7,
    canSell: true,
    endsAtMs: Number.POSITIVE_INFINITY,
    profiles: [],
    nextEpisode: () => episodes.shift() ?? null,
  } as const;
  const token = new ChainToken(traits, chain, MIDNIGHT, random);
  const bots = new TwoSidedBots(token, BOTS, 4, MIDNIGHT, new Random(`${seed}/bots`));
  const opening: MarketEvent[] = [firstProfile(subject, MIDNIGHT)];
  token.introduce(MIDNIGHT, opening);
  return { token, bots, factor: chain.marketFactor, labels, opening };
}

/** Runs the actors for some hours and passes on the events of each second. */
function play(actors: readonly Actor[], hours: number, onSecond: (events: readonly MarketEvent[]) => void) {
  const queue = new ActorQueue();
  for (const actor of actors) queue.add(actor);
  for (let at = MIDNIGHT; at <= MIDNIGHT + hours * HOUR; at += 1_000) {
    const events: MarketEvent[] = [];
    for (let actor = queue.first; actor && actor.nextAtMs <= at; actor = queue.first) {
      actor.act(events);
      queue.firstHasActed();
    }
    onSecond([...events, { kind: "clock", at }]);
  }
}

const tradesOf = (events: readonly MarketEvent[]) =>
  events.flatMap((event): Trade[] => (event.kind === "trade" ? [event] : []));

/** Wilson's lower bound of the share of buys, less one half. */
function imbalanceOf(trades: readonly Trade[]): number {
  const [n, z] = [trades.length, 1.96];
  const share = trades.filter(({ side }) => side === "buy").length / n;
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / 4 / n) / n);
  return (share + (z * z) / 2 / n - spread) / (1 + (z * z) / n) - 0.5;
}

test("bots buy and sell the same dollars with their own wallets, at their own pace, and leave the price", () => {
  const { token, bots } = tokenWithBots("alone", 0);
  const trades: Trade[] = [];
  play([bots], 48, (events) => trades.push(...tradesOf(events)));
  expect(Math.abs(trades.length / (48 * 60 * BOTS.perMinute) - 1)).toBeLessThan(0.1);
  const byWallet = Map.groupBy(trades, ({ trader }) => trader);
  expect(byWallet.size).toBe(BOTS.wallets);
  const open: number[] = [];
  for (const own of byWallet.values()) {
    const sides = Map.groupBy(own, ({ quoteUsd }) => Math.round(Number(quoteUsd) * 100));
    for (const [cents, ofOneSize] of sides) {
      const bought = ofOneSize.filter(({ side }) => side === "buy").length;
      if (2 * bought !== ofOneSize.length) open.push(cents);
    }
  }
  // The other sides that are still due.
  expect(open.length).toBeLessThan(0.02 * trades.length);
  expect(trades.length).toBeGreaterThan(4_000);
  expect(Math.abs(Math.log(token.venue.pool.price))).toBeLessThan(0.1);
});

test("where bots trade, buys hardly ever outnumber sales clearly, and pumps start flares all the same", () => {
  const readings: number[] = [];
  for (const seed of ["one", "two", "three", "four"]) {
    const { token, bots, factor, labels, opening } = tokenWithBots(seed, 1);
    const engine = new TrendEngine({});
    for (const event of opening) engine.accept(event);
    let recent: Trade[] = [];
    const starts = new Set<number>();
    play([factor, token, bots], 8.5, (events) => {
      for (const event of events) engine.accept(event);
      const at = events.at(-1)?.at ?? 0;
      recent.push(...tradesOf(events));
      if (at % MINUTE === 0 && at < PUMP_MS) {
        recent = recent.filter((trade) => trade.at > at - 5 * MINUTE);
        if (recent.length > 0) readings.push(imbalanceOf(recent));
        expect(engine.trendOf("bsc", token.subject.token)?.canarySinceMs ?? null).toBeNull();
      }
      const flaringSinceMs = engine.trendOf("bsc", token.subject.token)?.flaringSinceMs;
      if (flaringSinceMs) starts.add(flaringSinceMs);
    });
    const pump = labels.find(({ kind }) => kind === "pump");
    const found = [...starts].filter((at) => at >= PUMP_MS && at < (pump?.peakAtMs ?? 0) + 5 * MINUTE);
    expect(found, seed).toHaveLength(1);
  }
  expect(readings.length).toBeGreaterThan(1_500);
  expect(readings.filter((one) => one <= 0).length / readings.length).toBeGreaterThanOrEqual(0.95);
});
