import { test as base, beforeAll, expect } from "vitest";
import type { Candle, LiquidityEvent, Trade } from "../../../src/base/market/index.ts";
import type { Label, LabelKind } from "../../../src/feeds/simulated/market/episodes/label.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { HOUR, MIDNIGHT, MINUTE, simulate } from "./run.ts";

/** Long runs. In `npm test`, `scenarios/without-group` detects changes of the simulated market. */
const test = base.runIf(IS_SOAK);

const HOURS = 14;
const BEGIN = MIDNIGHT + 4 * HOUR;
const END = BEGIN + HOURS * HOUR;
/** Trades below a cent are dust. */
const MIN_USD = 0.01;
/** After an outage, makers finish what it interrupted within this time. */
const MAKERS_RETURN_MS = 5_000;

/** Trades by token, without dust. */
const tradesOf = new Map<string, Trade[]>();
const dustOf = new Map<string, Trade[]>();
const candles: Candle[] = [];
const liquidityOf = new Map<string, LiquidityEvent[]>();
const introduced = new Set<string>();
let labels: readonly Label[] = [];

function append<Event extends { readonly token: string }>(byToken: Map<string, Event[]>, event: Event): void {
  const own = byToken.get(event.token);
  if (own) own.push(event);
  else byToken.set(event.token, [event]);
}

beforeAll(() => {
  labels = simulate({ hours: HOURS, tokens: 360, seed: "chains", beginAtMs: BEGIN }, (event) => {
    if (event.kind === "trade") append(Number(event.quoteUsd) < MIN_USD ? dustOf : tradesOf, event);
    if (event.kind === "candle") candles.push(event);
    if (event.kind === "liquidity") append(liquidityOf, event);
    if (event.kind === "profile" && event.at === BEGIN && !event.quote) introduced.add(event.token);
  });
});

const labeled = (kind: LabelKind) =>
  labels.flatMap((label) => {
    const { token } = label;
    return label.kind === kind && label.endAtMs < END ? [{ ...label, token: token ?? "" }] : [];
  });
/** Returns when an episode is over: later than planned if an outage of its chain interrupts it. */
function overAtMs({ group, endAtMs }: Label): number {
  const outage = labels.find(
    (one) =>
      one.kind === "outage" && one.group === group && one.startAtMs <= endAtMs && one.endAtMs > endAtMs,
  );
  return outage ? outage.endAtMs + MAKERS_RETURN_MS : endAtMs;
}
const movesOf = (token: string, from: number, to: number) =>
  (liquidityOf.get(token) ?? []).filter(({ at }) => at >= from && at <= to);
const allOf = <Event>(byToken: Map<string, Event[]>) => [...byToken.values()].flat();
const chainTokens = () => [...introduced].filter((token) => token.startsWith("0x"));
const countBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string) =>
  new Map([...Map.groupBy(items, keyOf)].map(([key, group]) => [key, group.length]));

test("most established tokens of the chains trade less than once in ten minutes", () => {
  const idle = chainTokens().filter((token) => {
    const counts = new Array<number>(HOURS).fill(0);
    for (const { at } of tradesOf.get(token) ?? []) {
      const hour = Math.floor((at - BEGIN) / HOUR);
      counts[hour] = (counts[hour] ?? 0) + 1;
    }
    return counts.filter((count) => count < 6).length > HOURS / 2;
  });
  expect(chainTokens().length).toBeGreaterThan(250);
  expect(idle.length / chainTokens().length).toBeGreaterThan(0.55);
  expect(idle.length / chainTokens().length).toBeLessThan(0.85);
});

test("many tokens have dust trades, and bursts of dust come from many wallets", () => {
  const dust = allOf(dustOf);
  expect(dustOf.size).toBeGreaterThan(40);
  expect(dust.every(({ quoteUsd, price }) => Number(quoteUsd) > 0 && Number(price) > 0)).toBe(true);
  const bursts = labeled("dust");
  expect(bursts.length).toBeGreaterThan(20);
  for (const { token, startAtMs, endAtMs } of bursts) {
    const own = (dustOf.get(token) ?? []).filter(({ at }) => at >= startAtMs && at <= endAtMs);
    expect(own.length).toBeGreaterThan(15);
    expect(new Set(own.map(({ trader }) => trader)).size / own.length).toBeGreaterThan(0.8);
  }
});

test("a rebalance removes a large part and returns it within 20 seconds, or after an outage", () => {
  const all = labeled("rebalance");
  expect(all.length).toBeGreaterThan(100);
  for (const one of all) {
    const { token, startAtMs, endAtMs, size } = one;
    expect(size).toBeGreaterThan(0.4);
    expect(endAtMs - startAtMs).toBeLessThanOrEqual(20_000);
    const moves = movesOf(token, startAtMs, overAtMs(one));
    expect(moves.some(({ at, cause }) => at === startAtMs && cause === "remove")).toBe(true);
    expect(moves.some(({ at, cause }) => at >= endAtMs && cause === "add")).toBe(true);
  }
  expect(all.filter((one) => overAtMs(one) === one.endAtMs).length / all.length).toBeGreaterThan(0.95);
});

test("just-in-time liquidity is added before a trade and removed after it, mostly at the same time", () => {
  const all = labeled("jit");
  expect(all.length).toBeGreaterThan(100);
  for (const { token, startAtMs, endAtMs, size } of all) {
    const moves = movesOf(token, startAtMs, endAtMs);
    const added = moves.findIndex(({ cause }) => cause === "add");
    const removed = moves.findLast(({ cause }) => cause === "remove");
    expect(moves[added]?.at).toBe(startAtMs);
    expect(Number(removed?.usd) / Number(moves[added]?.usd)).toBeLessThan(1.2 * (1 - size) + 0.05);
    expect((tradesOf.get(token) ?? []).some(({ at }) => at === startAtMs)).toBe(true);
  }
  const atomic = all.filter(({ shape }) => shape === "atomic").length;
  expect(atomic / all.length).toBeGreaterThan(0.5);
});

test("a migration empties one pool, and the token continues in another with most of its liquidity", () => {
  const all = labeled("migration").filter(({ endAtMs }) => endAtMs < END - HOUR);
  expect(all.length).toBeGreaterThan(20);
  for (const { token, startAtMs, endAtMs, size } of all) {
    const moves = movesOf(token, startAtMs, endAtMs);
    const emptied = moves.find(({ cause }) => cause === "remove");
    const filled = moves.findLast(({ cause, pool }) => cause === "sync" && pool !== emptied?.pool);
    const before = movesOf(token, BEGIN, startAtMs - 1).findLast(({ pool }) => pool === emptied?.pool);
    expect(size).toBeGreaterThan(0.85);
    expect(filled?.pool).not.toBe(emptied?.pool);
    expect(Number(filled?.usd)).toBeGreaterThan(5 * Number(emptied?.usd));
    if (before) expect(Number(filled?.usd) / Number(before.usd)).toBeGreaterThan(0.6);
    const later = (tradesOf.get(token) ?? []).filter(({ at }) => at > endAtMs);
    expect(later.some(({ pool }) => pool === emptied?.pool)).toBe(false);
  }
});

test("some tokens have a deep pool with almost no trades besides their main one", () => {
  const byPool = countBy(allOf(tradesOf), ({ pool }) => pool);
  const poolsOf = chainTokens().map((token) => {
    const moves = liquidityOf.get(token) ?? [];
    return [...new Map(moves.toReversed().map(({ pool, usd }) => [pool, Number(usd)]))];
  });
  const withIdleDeep = poolsOf.filter((pools) => {
    const [deepest] = pools.toSorted(([, a], [, b]) => b - a);
    const busiest = Math.max(...pools.map(([pool]) => byPool.get(pool) ?? 0));
    return deepest && busiest > HOURS * 12 && (byPool.get(deepest[0]) ?? 0) < HOURS * 3;
  });
  expect(poolsOf.filter(({ length }) => length > 1).length).toBeGreaterThan(50);
  expect(withIdleDeep.length).toBeGreaterThan(5);
});

test("in a slump most of the exchange's pairs fall, by about its size", () => {
  const wides = labels.filter(({ kind }) => kind === "wide");
  const slumps = labeled("slump").filter(
    ({ startAtMs, endAtMs }) => !wides.some((one) => one.startAtMs < endAtMs && one.endAtMs > startAtMs),
  );
  expect(slumps.length).toBeGreaterThan(0);
  const byPair = [...Map.groupBy(candles, ({ token }) => token).values()];
  for (const { startAtMs, endAtMs, size } of slumps) {
    const moves = byPair.flatMap((own) => {
      const before = own.findLast(({ at }) => at <= startAtMs);
      const after = own.find(({ at }) => at >= endAtMs);
      return before && after ? [Math.log(Number(after.close) / Number(before.close))] : [];
    });
    const middle = moves.toSorted((a, b) => a - b)[moves.length >> 1] ?? Number.NaN;
    expect(Math.abs(middle / Math.log1p(size) - 1)).toBeLessThan(0.35);
  }
});

test("during an outage a chain, or a third of the exchange's pairs, emits nothing", () => {
  const outages = labeled("outage").filter(({ startAtMs }) => startAtMs > BEGIN + HOUR);
  expect(new Set(outages.map(({ group }) => group)).has("exchange")).toBe(true);
  expect(outages.some(({ shape }) => shape === "chain")).toBe(true);
  for (const { group, startAtMs, endAtMs, size } of outages) {
    expect((endAtMs - startAtMs) / MINUTE).toBeCloseTo(size, 1);
    if (group !== "exchange") {
      const within = (one: Trade | LiquidityEvent) =>
        one.group === group && one.at > startAtMs && one.at < endAtMs;
      const emitted = [tradesOf, dustOf, liquidityOf].flatMap((byToken) =>
        [...byToken.values()].flatMap((own: readonly (Trade | LiquidityEvent)[]) => own.filter(within)),
      );
      expect(emitted).toEqual([]);
      continue;
    }
    const pairsIn = (from: number, to: number) =>
      new Set(candles.filter(({ openAt, at }) => openAt >= from && at <= to).map(({ token }) => token)).size;
    const usual = pairsIn(startAtMs - (endAtMs - startAtMs), startAtMs);
    expect(pairsIn(startAtMs, endAtMs) / usual).toBeLessThan(0.85);
  }
});
