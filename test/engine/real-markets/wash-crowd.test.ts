import { expect, test } from "vitest";
import { IS_SOAK } from "../../support/law-runs.ts";
import { playInSingleton } from "./singleton-pool.ts";
import { WASH_AT, type WashCrowd, washTrades } from "./wash-crowd.ts";

const MINUTES = 120;

function play(crowd: WashCrowd) {
  return playInSingleton(washTrades(crowd, MINUTES).trades, MINUTES);
}

/** Trades of a crowd with any number of wallets. */
const AT_ONCE = { buysPerMinute: 100, usd: 500, holdMinutes: [0.01, 0.02], kept: 0.002 } as const;
const IN_SECONDS = { buysPerMinute: 60, usd: 20, holdMinutes: [0.01, 0.05], kept: 0.1 } as const;
const IN_A_MINUTE = { buysPerMinute: 60, usd: 20, holdMinutes: [0.5, 1], kept: 0.05 } as const;
const LATER = { buysPerMinute: 30, usd: 10, holdMinutes: [1, 10] } as const;
const MANY_LATER = { buysPerMinute: 100, usd: 4, holdMinutes: [1, 10] } as const;

const QUICK = [60, 300, 1_000].flatMap((wallets) =>
  [AT_ONCE, IN_SECONDS, IN_A_MINUTE].map((crowd) => ({ wallets, ...crowd })),
);
const SLOW = [60, 300, 1_000].flatMap((wallets) =>
  [MANY_LATER, LATER].map((crowd) => ({ wallets, ...crowd })),
);
/** The last crowds are the hardest: many wallets that sell late look like honest buyers. */
const shareOfCrowds = <Crowd>(crowds: readonly Crowd[]) => (IS_SOAK ? crowds : crowds.slice(-1));

test.each(shareOfCrowds(QUICK))(
  "$wallets wallets that buy $buysPerMinute times a minute and sell within $holdMinutes minutes in a V4 pool without a fee start no flare in the free list",
  (crowd) => {
    const { flares, free, canaryAt } = play(crowd);
    expect([flares, free]).toEqual([1, 0]);
    expect(canaryAt).toBeLessThan(WASH_AT + 3);
  },
);

test.each(shareOfCrowds(SLOW))(
  "$wallets wallets that buy $buysPerMinute times a minute and sell one to ten minutes later leave the free list while they still trade",
  (crowd) => {
    const { canaryAt, lastFreeAt } = play(crowd);
    expect(canaryAt).toBeLessThan(WASH_AT + 18);
    expect(lastFreeAt).toBeLessThan(WASH_AT + 18);
  },
);

test("a token enters the free list although half of its buyers sell within half an hour", () => {
  const honest = { wallets: 1_000, buysPerMinute: 30, usd: 20, holdMinutes: [2, 60] } as const;
  expect(play(honest)).toMatchObject({ flares: 1, free: 1, canarySeconds: 0 });
});
