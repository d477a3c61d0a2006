import { expect, test } from "vitest";
import type { MarketEvent } from "../../../src/base/market/index.ts";
import { MOMENT, playPump, TOKEN } from "../pump-market.ts";
import { HOUR, listing, profile, SECOND, START } from "../trend-kit.ts";

/** Plays a pump. Returns the ages that its flare's explanations stated, and the flare's start. */
function ages(extra: readonly MarketEvent[], isListed = true) {
  const seen = new Set<number | null | undefined>();
  let startedMs = 0;
  playPump({
    extra,
    change: (event) => (event.kind === "listing" && event.token === TOKEN && !isListed ? undefined : event),
    onSnapshot: ({ flares, explanations }) => {
      const flare = flares.pro.find(({ token }) => token.address === TOKEN);
      if (!flare) return;
      startedMs = Date.parse(flare.started_trending_at);
      seen.add(explanations[flare.id]?.age_s);
    },
  });
  return { seen: [...seen], startedS: (startedMs - START) / SECOND };
}

const createdAt = START - 3 * HOUR;

test("a flare states its token's age from the listing to its start, in whole seconds, and does not change it", () => {
  const { seen, startedS } = ages([
    profile(START, TOKEN, { createdAt }),
    listing(MOMENT + 2 * SECOND, TOKEN, "second"),
  ]);
  expect(startedS).toBeGreaterThan(0);
  expect(seen).toEqual([startedS + 1]);
});

test("without a known listing the age counts from the creation, and without either it is null", () => {
  const { seen, startedS } = ages([profile(START, TOKEN, { createdAt })], false);
  expect(seen).toEqual([startedS + (3 * HOUR) / SECOND]);
  expect(ages([], false).seen).toEqual([null]);
  expect(ages([profile(MOMENT + SECOND, TOKEN, { createdAt })], false).seen).toEqual([null]);
});

test("the listing of a later pool is not the token's", () => {
  expect(ages([listing(MOMENT - 5 * 60 * SECOND, TOKEN, "second")], false).seen).toEqual([null]);
});
