import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { TrendEngine } from "../../../src/engine/index.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { playPump } from "../pump-market.ts";
import { playScripts, type Script } from "../trade-market.ts";
import { address, drive, liquidity, MINUTE, START, trade, withClocks } from "../trend-kit.ts";

const BUSY = 30;
const WIDE_FROM = 120;
const MINUTES = WIDE_FROM + 20;
const isWide = (minute: number) => minute >= WIDE_FROM && minute < WIDE_FROM + 6;

/**
 * Returns busy tokens that all rise by about 12 % within six minutes, and `idle` tokens that trade
 * once in twelve minutes.
 */
function scriptsWith(idle: number): Script[] {
  const busy = Array.from({ length: BUSY }, (_, n) => ({
    token: address(n + 1),
    rate: (minute: number) => (isWide(minute) ? 10 : 5),
    buyShare: (minute: number) => (isWide(minute) ? 0.72 : 0.5),
  }));
  const tail = Array.from({ length: idle }, (_, n) => ({
    token: address(1_000 + n),
    rate: () => 1 / 12,
    buyShare: () => 0.5,
  }));
  return [...busy, ...tail];
}

function play(idle: number) {
  const flared = new Set<string>();
  const engine = new TrendEngine();
  const events = withClocks(playScripts(scriptsWith(idle), MINUTES), START + MINUTES * MINUTE, START - 3_000);
  const prices: number[] = [];
  drive(engine, events, (snapshot, at) => {
    if (at < START + WIDE_FROM * MINUTE) return;
    for (const { token } of snapshot.flares.pro) flared.add(token.address);
  });
  for (let n = 1; n <= BUSY; n++)
    prices.push(lastPrice(events, address(n), WIDE_FROM + 6) / lastPrice(events, address(n), WIDE_FROM));
  return { flared, rise: prices.toSorted((a, b) => a - b)[BUSY / 2] ?? 0 };
}

function lastPrice(events: readonly { kind: string }[], token: string, minute: number): number {
  let price = 1;
  for (const event of events) {
    if (!("token" in event && event.token === token && "price" in event && "at" in event)) continue;
    if (Number(event.at) < START + minute * MINUTE) price = Number(event.price);
  }
  return price;
}

test.each(IS_SOAK ? [0, 60, 270] : [60])(
  "a rise of all 30 busy tokens among %i idle ones starts flares of at most three",
  (idle) => {
    const { flared, rise } = play(idle);
    expect(rise).toBeGreaterThan(1.1);
    expect(rise).toBeLessThan(1.16);
    expect(flared.size).toBeLessThanOrEqual(BUSY / 10);
  },
);

test("rises of tokens that cost almost nothing to create do not prevent another token's start", () => {
  const fakes = Array.from({ length: 35 }, (_, n) => address(5_000 + n));
  const extra: MarketEvent[] = fakes.map((token, n) =>
    liquidity(START + 20 * MINUTE + n, token, "40", "add", `pool-${token}`),
  );
  for (let step = 10; step < 25; step += 1)
    for (const [n, token] of fakes.entries())
      extra.push(
        trade(START + step * 3 * MINUTE + 100 * n, token, {
          price: (1.5 ** step).toFixed(8),
          quoteUsd: "0.1",
          trader: `0xfa${n}`,
        }),
      );
  const honest = playPump({ crowd: 30 });
  const attacked = playPump({ crowd: 30, extra });
  expect(attacked.running.map(({ id }) => id)).toEqual(honest.running.map(({ id }) => id));
  expect(attacked.running).toHaveLength(1);
});
