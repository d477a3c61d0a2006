import fc from "fast-check";
import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { IS_SOAK, lawRuns } from "../../support/law-runs.ts";
import { crowdOf, playScripts } from "../trade-market.ts";
import {
  address,
  createRandom,
  liquidity,
  MINUTE,
  SECOND,
  START,
  unlisted,
  withClocks,
} from "../trend-kit.ts";
import { serveOutcomes } from "./serve-outcomes.ts";
import { type Episode, SlowMarket } from "./slow-outcome.ts";

const MINUTES = 110;
const PUMPED = 4;
/** Low thresholds and short pauses, so that a token flares several times within an hour. */
const EAGER = { tradeStartScore: 1, startActivity: 0, coolDownMs: 3 * MINUTE };

/** Creates pumped tokens beside a crowd, some dumped or idle afterwards, and feed outages. */
function marketOf(seed: number): MarketEvent[] {
  const random = createRandom(seed);
  const below = (max: number) => Math.floor(random() * max);
  const pumped = Array.from({ length: PUMPED }, (_, n) => {
    const from = 12 + below(60);
    const [until, dumped] = [from + 3 + below(10), random() < 0.4];
    const quietFrom = random() < 0.3 ? until + below(6) : MINUTES;
    const usd = dumped ? 800 : 300;
    const isHot = (minute: number) => minute >= from && minute < until;
    const isDump = (minute: number) => dumped && minute >= until && minute < until + 3;
    return {
      token: address(n + 1),
      usd,
      rate: (minute: number) => (minute >= quietFrom ? 0 : isHot(minute) ? 15 : isDump(minute) ? 12 : 1.2),
      buyShare: (minute: number) => (isHot(minute) ? 0.9 : isDump(minute) ? 0.02 : 0.5),
    };
  });
  const removals = Array.from({ length: 2 }, () =>
    liquidity(START + below(MINUTES * MINUTE), address(1 + below(PUMPED)), "900", "remove"),
  );
  const gap = { from: START + below(MINUTES) * MINUTE, ms: below(8) * MINUTE };
  const isHeard = ({ at }: MarketEvent) => at < gap.from || at >= gap.from + gap.ms;
  const crowd = crowdOf(3 + below(6));
  const played = [...playScripts([...crowd, ...pumped], MINUTES, seed), ...removals];
  return withClocks(played.filter(isHeard).map(unlisted), START + MINUTES * MINUTE, START - 3_000);
}

test("[W42] every flare's outcome, at its end and after its hour, equals a slow computation from all events, also across restarts", () => {
  const seen = { final: 0, open: 0, long: 0, unknown: 0, collapsed: 0, warned: 0, relative: 0, twice: 0 };
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.constantFrom(MINUTE, 75 * MINUTE),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
      (seed, fadeMs, parts) => {
        const events = marketOf(seed);
        const cuts = parts.map((part) => Math.floor(part * events.length));
        const slow = new SlowMarket(events);
        // Without reversals, some flares last for more than an hour.
        const reversedShare = fadeMs === MINUTE ? 0.5 : 9;
        const all = serveOutcomes(events, { ...EAGER, fadeMs, reversedShare }, cuts);
        for (const { outcome, episode } of all) {
          const { given_back, ...measured } = outcome;
          expect(measured).toEqual(slow.outcomeOf(episode));
          const { asOfMs, endMs, startMs, token } = episode;
          seen[outcome.final ? "final" : "open"] += 1;
          if (endMs - startMs > 60 * MINUTE) seen.long += 1;
          if (outcome.final && outcome.change_60m === null) seen.unknown += 1;
          if (outcome.collapsed_at !== null) seen.collapsed += 1;
          if ((outcome.collapse_warning_s ?? 0) > 0) seen.warned += 1;
          if (outcome.relative_change_15m !== null) seen.relative += 1;
          const isOther = (one: Episode) => one.token === token && one.startMs > startMs;
          if (all.some((one) => isOther(one.episode) && one.episode.endMs < asOfMs)) seen.twice += 1;
        }
      },
    ),
    // The examples contain every case that is counted below.
    {
      ...lawRuns(4, 12),
      examples: [
        [9, MINUTE, [0.3, 0.7]],
        [6, 75 * MINUTE, [0.3, 0.7]],
        // With an outage, during which the old price does not count.
        [162_277, MINUTE, []],
      ],
    },
  );
  expect(Object.entries(seen).filter(([, count]) => count === 0)).toEqual([]);
});

test("[W42] an outcome is served at the finish, and once more 60 minutes after the start", () => {
  const versions = Map.groupBy(
    serveOutcomes(marketOf(5), { ...EAGER, fadeMs: MINUTE }, []),
    ({ episode }) => `${episode.startMs}`,
  );
  expect(versions.size).toBeGreaterThan(0);
  for (const served of versions.values()) {
    expect(served.length).toBeLessThanOrEqual(2);
    for (const { outcome, episode } of served) {
      const { asOfMs, startMs, endMs } = episode;
      const dueMs = outcome.final ? Math.max(endMs, startMs + 60 * MINUTE) : endMs;
      expect(asOfMs - dueMs).toBeLessThanOrEqual(SECOND);
    }
  }
});

test("[W42] a flare with many newer ones is listed until its final outcome has been served", () => {
  let due = 0;
  for (const seed of IS_SOAK ? [1, 2, 3, 4, 5] : [1, 2]) {
    const events = marketOf(seed);
    const untilMs = START + (MINUTES - 61) * MINUTE;
    const served = serveOutcomes(events, { ...EAGER, fadeMs: MINUTE, maxFinished: 1 }, []);
    const byFlare = Map.groupBy(served, ({ episode }) => `${episode.token} ${episode.startMs}`);
    for (const versions of byFlare.values()) {
      if ((versions[0]?.episode.startMs ?? 0) > untilMs) continue;
      due += 1;
      expect(versions.at(-1)?.outcome.final).toBe(true);
    }
  }
  expect(due).toBeGreaterThan(5);
});
