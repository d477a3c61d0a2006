import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { MOMENT, PUMP_AT, playPump, TOKEN } from "../pump-market.ts";
import type { Script } from "../trade-market.ts";
import { liquidity, listing, MINUTE, SECOND, START, trade } from "../trend-kit.ts";

test("removing the liquidity of a launch raises a warning, even if its pool had little at first", () => {
  const launchMs = START + 61 * MINUTE;
  const rate = (minute: number) => (minute >= 62 ? 25 : 0);
  const script: Script = { token: TOKEN, usd: 200, rate, buyShare: () => 0.75 };
  const little = [
    { waitMs: SECOND, usd: "10" },
    { waitMs: 60 * MINUTE, usd: "10" },
    { waitMs: SECOND, usd: "1000" },
  ];
  for (const { waitMs, usd } of little) {
    const extra = [
      liquidity(launchMs - waitMs, TOKEN, usd, "add"),
      listing(launchMs, TOKEN),
      liquidity(launchMs + 10 * MINUTE, TOKEN, "2000", "remove"),
    ];
    const change = (event: MarketEvent) =>
      event.kind === "listing" && event.token === TOKEN ? undefined : event;
    const { warnings, causes } = playPump({ extra, change, script, minutes: 75 });
    expect({ warnings, causes }).toEqual({ warnings: ["liquidity-removed"], causes: ["canary"] });
  }
});

test("trades in the rugger's own pool, huge within a transaction, do not hide that the real pool is emptied", () => {
  const hidden = [
    liquidity(MOMENT, TOKEN, "10000000", "add", "own"),
    liquidity(MOMENT, TOKEN, "100000", "sync", "own"),
    liquidity(MOMENT, TOKEN, "0", "remove", "own"),
    liquidity(MOMENT, TOKEN, "2600", "remove"),
  ];
  expect(playPump({ extra: hidden }).warnings).toContain("liquidity-removed");
});

test("a fall by 95 % is detected even if the rugger's own pool set the price at that moment", () => {
  const extra = [
    liquidity(MOMENT, TOKEN, "10000000", "add", "own"),
    trade(MOMENT, TOKEN, { pool: "own", price: "1.66", quoteUsd: "100", trader: "0xdev" }),
    liquidity(MOMENT, TOKEN, "600000", "sync", "own"),
    liquidity(MOMENT, TOKEN, "11000", "sync"),
    trade(MOMENT, TOKEN, { side: "sell", quoteUsd: "19000", price: "0.083", trader: "0xdev" }),
    liquidity(MOMENT, TOKEN, "0", "remove", "own"),
  ];
  const change = (event: MarketEvent): MarketEvent =>
    event.kind === "trade" && event.token === TOKEN && event.at > MOMENT
      ? { ...event, price: String(Number(event.price) / 20) }
      : event;
  const { causes, warnings } = playPump({ extra, change });
  expect({ causes, warnings }).toEqual({ causes: ["canary"], warnings: ["price-collapsed", "price-fallen"] });
});

test("neither sixteen pools of an attacker nor an early one raises a warning about an honest token", () => {
  const own = Array.from({ length: 15 }, (_, n) =>
    liquidity(START + 50 * MINUTE + n, TOKEN, "1200", "add", `own-${n}`),
  );
  const dropped = [
    ...own,
    liquidity(MOMENT, TOKEN, "10000000", "add", "huge"),
    liquidity(MOMENT, TOKEN, "50000", "sync", "huge"),
    liquidity(MOMENT, TOKEN, "1300", "add", "another"),
    liquidity(MOMENT, TOKEN, "10000000", "add", "huge"),
    liquidity(MOMENT, TOKEN, "0", "remove", "huge"),
  ];
  const first = [
    liquidity(START - 1_990, TOKEN, "10000000", "add", "huge"),
    liquidity(START - 1_990, TOKEN, "0", "remove", "huge"),
  ];
  for (const extra of [dropped, first]) {
    const { canarySeconds, running } = playPump({ extra, minutes: PUMP_AT + 20 });
    expect([canarySeconds, running.length]).toEqual([0, 1]);
  }
});
