import { expect, test } from "vitest";
import { PUMP_AT, playPump, TOKEN } from "../pump-market.ts";
import { MINUTE, SECOND, START } from "../trend-kit.ts";

test("while nobody trades any more, a flare's counts still fall every five seconds, to those of the last five minutes", () => {
  const stopMs = START + (PUMP_AT + 7) * MINUTE;
  const trades: { readonly at: number; readonly isBuy: boolean }[] = [];
  let looks = 0;
  playPump({
    minutes: PUMP_AT + 11,
    change: (event) => {
      if (event.kind !== "trade") return event;
      if (event.at >= stopMs) return undefined;
      if (event.token === TOKEN) trades.push({ at: event.at, isBuy: event.side === "buy" });
      return event;
    },
    onSnapshot: ({ flares }, atMs) => {
      const [flare] = flares.pro;
      if (!flare || atMs < stopMs + 10 * SECOND || atMs % (5 * SECOND) !== 0) return;
      looks += 1;
      const recent = trades.filter(({ at }) => at >= atMs - 5 * MINUTE && at < atMs);
      const buys = recent.filter(({ isBuy }) => isBuy).length;
      expect([flare.latest_buy_count, flare.latest_sell_count], `${atMs - stopMs}`).toEqual([
        buys,
        recent.length - buys,
      ]);
    },
  });
  expect(looks).toBeGreaterThan(30);
});
