import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { GROUPS } from "../../../src/base/model/index.ts";
import type { Detector } from "../../../src/engine/detect/detector.ts";
import { DEFAULT_SETTINGS } from "../../../src/engine/settings.ts";
import { OutcomeTracker } from "../../../src/engine/views/outcome-tracker.ts";
import { IS_SOAK } from "../../support/law-runs.ts";
import { crowdOf, playScripts } from "../trade-market.ts";
import { address, HOUR, MINUTE, START, withClocks } from "../trend-kit.ts";
import { serveOutcomes } from "./serve-outcomes.ts";
import { SlowMarket } from "./slow-outcome.ts";

const HOURS = 30;
const CUTS = [0.1, 0.6, 0.93];

/** Creates tokens that pump after 3, 20 and 28 hours, and half an hour without any data. */
function marketOf(seed: number): MarketEvent[] {
  const pumped = [180, 1_200, 1_680].map((from, n) => ({
    token: address(n + 1),
    usd: 300,
    rate: (minute: number) => (minute >= from && minute < from + 9 ? 15 : 0.6),
    buyShare: (minute: number) => (minute >= from && minute < from + 9 ? 0.9 : 0.5),
  }));
  const played = playScripts([...crowdOf(2), ...pumped], HOURS * 60, seed);
  const silentFrom = START + 11.5 * HOUR;
  const isHeard = ({ at }: MarketEvent) => at < silentFrom || at >= silentFrom + 30 * MINUTE;
  return withClocks(played.filter(isHeard), START + HOURS * HOUR, START - 3_000);
}

test("[W42] an outcome's control has the changes after the token's other moments, by all events, also across restarts", () => {
  const seen: number[] = [];
  let [unknown, flares] = [0, 0];
  for (const seed of IS_SOAK ? [1, 2] : [1]) {
    const events = marketOf(seed);
    const slow = new SlowMarket(events);
    const cuts = CUTS.map((part) => Math.floor(part * events.length));
    for (const { outcome, episode } of serveOutcomes(events, { tradeStartScore: 1.4 }, cuts)) {
      expect(outcome.control).toEqual(slow.controlOf(episode.token, episode.startMs));
      flares += 1;
      seen.push(outcome.control?.change_5m.length ?? 0);
      if (outcome.control?.change_5m.length !== outcome.control?.change_60m.length) unknown += 1;
    }
  }
  expect(flares).toBeGreaterThan(5);
  expect(unknown).toBeGreaterThan(0);
  expect(Math.max(...seen)).toBeGreaterThan(6);
  expect(Math.min(...seen)).toBeLessThan(3);
});

test("[W42] tokens of every group have control moments, which begin at whole minutes", () => {
  const asked: string[] = [];
  const tokensOf = (group: string) => {
    asked.push(group);
    return [];
  };
  const tracker = new OutcomeTracker(DEFAULT_SETTINGS, {} as Detector, tokensOf);
  tracker.step(START + MINUTE + 1);
  expect(asked).toEqual([]);
  tracker.step(START + 2 * MINUTE);
  expect(asked).toEqual(GROUPS);
});
