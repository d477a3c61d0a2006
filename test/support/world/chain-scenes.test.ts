import { expect, test } from "vitest";
import { type LiquidityEvent, MarketEvent, type Trade } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { address, MINUTE, START } from "../../engine/trend-kit.ts";
import {
  burstRate,
  busyTokens,
  dust,
  idlePool,
  idleTokens,
  justInTime,
  migration,
  pumpPath,
  rebalance,
  rugPull,
  type SceneAct,
  sceneOf,
  tokenScene,
} from "./chain-scenes.ts";

const TOKEN = address(1);
const AT = START + 30 * MINUTE + 123;

function eventsWith(acts: readonly SceneAct[]): readonly MarketEvent[] {
  return tokenScene({ token: TOKEN, minutes: 60, acts });
}

const liquidityAt = (events: readonly MarketEvent[], from: number, to: number) =>
  events.filter(
    (event): event is LiquidityEvent => event.kind === "liquidity" && event.at >= from && event.at <= to,
  );
const tradesOf = (events: readonly MarketEvent[]) => events.filter((event) => event.kind === "trade");
const usdOf = (event: LiquidityEvent | undefined) => Number(event?.usd);

test("a scene with equal arguments has equal, valid market events in order of time", () => {
  const scene = { token: TOKEN, minutes: 60, path: pumpPath(20, 5, 0.3), acts: dust(AT, AT + MINUTE, 9_000) };
  const events = tokenScene(scene);
  expect(tokenScene(scene)).toEqual(events);
  expect(tokenScene({ ...scene, seed: 2 })).not.toEqual(events);
  expect(events.filter((event) => !MarketEvent.safeParse(event).success)).toEqual([]);
  expect(events.toSorted((a, b) => a.at - b.at)).toEqual(events);
});

test("the trades move the price along the path", () => {
  const events = tokenScene({ token: TOKEN, minutes: 60, path: pumpPath(20, 10, 0.5), perMinute: () => 10 });
  const priceAt = (minute: number) =>
    Number(tradesOf(events).findLast(({ at }) => at <= START + minute * MINUTE)?.price);
  expect(priceAt(19)).toBeCloseTo(1, 1);
  expect(priceAt(35)).toBeCloseTo(1.5, 1);
});

test("a rebalance returns the liquidity after its time, just-in-time liquidity leaves in the same block", () => {
  const [out, back] = liquidityAt(eventsWith(rebalance(AT, 0.6, 1_000)), AT, AT + 1_000).filter(
    ({ cause }) => cause !== "sync",
  );
  expect([out?.cause, back?.cause, back?.at]).toEqual(["remove", "add", AT + 1_000]);
  expect(usdOf(out) / usdOf(back)).toBeCloseTo(0.4, 1);
  const block = eventsWith(justInTime(AT)).filter(({ at }) => at === AT);
  expect(block.map((event) => (event.kind === "liquidity" ? event.cause : event.kind))).toEqual([
    "sync",
    "add",
    "trade",
    "remove",
  ]);
});

test("trades continue in the new pool after a migration, and liquidity does not return after a rug pull", () => {
  const moved = eventsWith(migration(AT, "pool-new", 0.98, 2_000));
  const listed = moved.find((event) => event.kind === "listing");
  expect([listed?.pool, listed?.at]).toEqual(["pool-new", AT + 2_000]);
  const later = tradesOf(moved).filter(({ at }) => at > AT + 2_000);
  expect(new Set(later.map(({ pool }) => pool))).toEqual(new Set(["pool-new"]));
  const gone = liquidityAt(eventsWith(rugPull(AT)), AT, START + 60 * MINUTE);
  expect(usdOf(gone.at(-1))).toBeLessThan(6_000);
});

test("dust trades are above 0 and far below a cent, and an idle pool has one trade", () => {
  const isDust = ({ quoteUsd }: Trade) => Number(quoteUsd) < 0.01;
  const own = tradesOf(eventsWith(dust(AT, AT + 10 * MINUTE, 5 * MINUTE, 0.5))).filter(isDust);
  expect(own.map(({ at, quoteUsd }) => [at, Number(quoteUsd)])).toEqual([
    [AT, 3e-6],
    [AT + 5 * MINUTE, 3e-6],
  ]);
  expect(Number(own[0]?.price)).toBeGreaterThan(1.4);
  const idle = idlePool(TOKEN, 60_000);
  expect(idle.map(({ kind }) => kind)).toEqual(["liquidity", "trade"]);
  expect(Number(tradesOf(idle)[0]?.price)).toBeCloseTo(1, 1);
});

test("in a market of busy and idle tokens, only the pumped one flares", () => {
  const pumped = {
    token: TOKEN,
    minutes: 120,
    path: pumpPath(100, 5, 0.4),
    perMinute: burstRate(2, 8, 100, 120),
  };
  const quiet = [...busyTokens(8, { minutes: 120 }), ...idleTokens(4, 120)];
  const engine = new TrendEngine();
  for (const event of sceneOf(120, tokenScene(pumped), ...quiet.map(tokenScene))) engine.accept(event);
  expect(engine.snapshot().flares.pro.map(({ token }) => token.address)).toEqual([TOKEN]);
  expect(Object.values(engine.rejected).reduce((sum, count) => sum + count, 0)).toBe(0);
});
