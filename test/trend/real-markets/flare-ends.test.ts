import { expect, test } from "vitest";
import { TrendEngine } from "../../../src/trend/index.ts";
import { crowdOf, playScripts, type Script } from "../trade-market.ts";
import { address, drive, HOUR, MINUTE, START, withClocks } from "../trend-kit.ts";

const TOKEN = address(1);
const BURST_FROM = 90;
const BURST_UNTIL = 102;

/** A burst that lifts the price and leaves it there, followed by `rateAfter` trades a minute. */
const burst = (rateAfter: number): Script => ({
  token: TOKEN,
  rate: (minute) =>
    minute < BURST_FROM ? 2 : minute < BURST_UNTIL ? 25 : Math.min(2, rateAfter * Number(minute < 700)),
  buyShare: (minute) => (minute >= BURST_FROM && minute < BURST_UNTIL ? 0.8 : 0.55),
});

/** When the token's flare ended, in minutes after its burst; Infinity while it runs. */
function play(script: Script, minutes: number) {
  const engine = new TrendEngine();
  const events = playScripts([...crowdOf(8), script], minutes);
  const last = drive(engine, withClocks(events, START + minutes * MINUTE, START - 3_000));
  const [flare] = last.flares.finished_trending.filter(({ token }) => token.address === TOKEN);
  const endMs = Date.parse(flare?.finished_trending_at ?? "");
  const isRunning = last.flares.pro.some(({ token }) => token.address === TOKEN);
  const cause = flare && last.explanations[flare.id]?.finish_cause;
  return { endMinute: isRunning ? Number.POSITIVE_INFINITY : (endMs - START) / MINUTE, cause, engine };
}

test("a flare ends within twenty minutes of its burst although the price stays up", () => {
  const { endMinute, cause } = play(burst(2), 240);
  expect(endMinute).toBeGreaterThan(BURST_UNTIL - 2);
  expect(endMinute).toBeLessThanOrEqual(BURST_UNTIL + 20);
  expect(cause).toBe("faded");
});

test("a flare whose last trade was five minutes ago ends as silent", () => {
  const { endMinute, cause } = play(burst(0), 240);
  expect(endMinute).toBeLessThanOrEqual(BURST_UNTIL + 7);
  expect(cause).toBe("silent");
});

test("a token whose trading stopped in the middle of a flare is forgotten like any other", () => {
  const { endMinute, engine } = play(burst(0), BURST_UNTIL);
  expect(endMinute).toBe(Number.POSITIVE_INFINITY);
  for (let at = START + BURST_UNTIL * MINUTE; at <= START + 9 * HOUR; at += 1_000)
    engine.accept({ kind: "clock", at });
  expect(engine.snapshot().flares.pro).toEqual([]);
  expect(engine.trendOf("bsc", TOKEN)).toBeUndefined();
});
