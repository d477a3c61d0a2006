import { expect, test } from "vitest";
import type { Freshness, SourceInfo } from "../../../src/base/protocol/index.ts";
import { freshnessOf } from "../../../src/gateway/persistence/gateway-freshness.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

const NOW = Date.parse("2026-11-23T04:39:04.000Z");
const facts = { trades: true, liquidity: true, listings: true, profiles: true };
const info = (origin: SourceInfo["origin"]): SourceInfo => ({ name: "market", origin, facts });
const starting: Freshness = {
  ...{ state: "stale", reason: "the market has no data yet" },
  ...{ observed_at: null, last_success_at: null, data_age_ms: 3_000 },
};
const resume = { observedAtMs: NOW - 100_000 };

function freshness(fresh: Freshness, origin: SourceInfo["origin"], resumed: typeof resume | undefined) {
  const clock = new ManualClock(NOW);
  const source = { info: info(origin), freshness: () => fresh };
  return freshnessOf({ kind: "snapshots", source, ...(resumed ? { resume: resumed } : {}) }, clock, []);
}

test("after a restart, the data age is that of the previous run's lists, which are still served", () => {
  expect(freshness(starting, "live", resume)).toEqual({
    state: "stale",
    reason: "the lists are those of the previous run; the market has no data yet",
    observed_at: "2026-11-23T04:37:24.000Z",
    last_success_at: "2026-11-23T04:37:24.000Z",
    data_age_ms: 100_000,
  });
});

test("the event time of a recorded market does not count as the data's age", () => {
  expect(freshness(starting, "recorded", resume)).toMatchObject({
    observed_at: "2026-11-23T04:37:24.000Z",
    data_age_ms: 3_000,
  });
});

test("the source's freshness is unchanged without a previous run and once this run has data", () => {
  expect(freshness(starting, "live", undefined)).toEqual(starting);
  const live: Freshness = {
    ...{ state: "live", reason: "", data_age_ms: 10 },
    ...{ observed_at: "2026-11-23T04:39:04.000Z", last_success_at: "2026-11-23T04:39:04.000Z" },
  };
  expect(freshness(live, "live", resume)).toEqual(live);
});

test("the reason includes the troubles of other parts, and a follower does not mention the previous run", () => {
  const others = [undefined, { trouble: "the disk is full" }, { trouble: undefined }];
  const clock = new ManualClock(NOW);
  const source = { info: info("live"), freshness: () => starting };
  expect(freshnessOf({ kind: "follower", source, resume }, clock, others).reason).toBe(
    "the market has no data yet; the disk is full",
  );
});
