import { expect, test } from "vitest";
import { PriceTrends, trendText } from "../../../../src/app/cli/top/price-trends.ts";
import { ManualClock } from "../../../support/time/manual-clock.ts";

const END_MS = Date.parse("2026-11-23T01:00:00.000Z");
const candle = (minutesAgo: number, close: string | null) => ({
  open_at: new Date(END_MS - minutesAgo * 60_000).toISOString(),
  close,
});

test("a trend has one block per six minutes, as high as the last price in it, and blanks before the first price", () => {
  expect(trendText([candle(40, "1"), candle(20, "8"), candle(19, null), candle(1, "4.5")], END_MS)).toBe(
    "   ▁▁▁███▅",
  );
  expect(trendText([], END_MS).trim()).toBe("");
  expect(trendText([candle(3, "x"), candle(2, "-1")], Number.NaN).trim()).toBe("");
});

test("candles are fetched for a new minute or flare, at most every two seconds; invalid ones are ignored", async () => {
  const clock = new ManualClock();
  const bodies: object[] = [
    {},
    { closed_at: new Date(END_MS).toISOString(), bsc: { "0xAB": [candle(1, "2")], bad: 7 } },
    { closed_at: new Date(END_MS).toISOString(), bsc: { "0xAB": [candle(1, "2")] } },
  ];
  let fetches = 0;
  const trends = new PriceTrends(async () => bodies[fetches++] ?? {}, clock);
  const refresh = async (minute: number, id: string | undefined) => {
    void trends.refresh(minute * 60_000, id);
    await new Promise((resolve) => setImmediate(resolve));
    return fetches;
  };
  expect(await refresh(0, undefined)).toBe(0);
  expect(await refresh(0, "a")).toBe(1);
  expect(await refresh(1, "a")).toBe(1);
  await clock.advance(2_000);
  expect(await refresh(1, "a")).toBe(2);
  expect(trends.trendOf("0xab")).toBe("");
  await clock.advance(2_000);
  expect(await refresh(1, "a")).toBe(2);
  expect(await refresh(1, "b")).toBe(3);
  expect(trends.trendOf("0xaB")).toBe("         ▁");
});
