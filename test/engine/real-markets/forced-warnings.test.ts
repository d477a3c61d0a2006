import { expect, test } from "vitest";
import { PUMP_AT, playPump, TOKEN } from "../pump-market.ts";
import { playScripts, type Script } from "../trade-market.ts";
import { MINUTE, profile, START, trade } from "../trend-kit.ts";

const SCRIPT: Script = {
  token: TOKEN,
  rate: (minute) => (minute >= PUMP_AT ? 25 : 2),
  buyShare: (minute) => (minute >= PUMP_AT ? 0.8 : 0.5),
};
const MINUTES = PUMP_AT + 16;

/** Purchases by new wallets at equal intervals during the pump, at its price. */
function pennies(count: number, quoteUsd: string) {
  const honest = playScripts([SCRIPT], MINUTES).filter((event) => event.kind === "trade");
  return Array.from({ length: count }, (_, n) => {
    const at = START + (PUMP_AT + 3) * MINUTE + n * 1_500;
    const price = honest.findLast((event) => event.at <= at)?.price ?? "1";
    return trade(at, TOKEN, { price, quoteUsd, amount: "0.01", trader: `penny ${n}` });
  });
}

test("an honest flare of an unverified token stays in `free` while new wallets buy for 26 cents each at equal intervals", () => {
  const unverified = profile(START - 1_500, TOKEN, { contractSource: "unverified" });
  const played = (count: number) => {
    let free = 0;
    const { canarySeconds } = playPump({
      script: SCRIPT,
      minutes: MINUTES,
      extra: [unverified, ...pennies(count, "0.26")],
      onSnapshot: ({ flares }) => {
        if (flares.free.some(({ token }) => token.address === TOKEN)) free += 1;
      },
    });
    return { free, canarySeconds };
  };
  const honest = played(0);
  expect(honest.free).toBeGreaterThan(100);
  for (const count of [20, 100]) {
    const { free, canarySeconds } = played(count);
    expect(canarySeconds).toBe(0);
    expect(free).toBeGreaterThanOrEqual(honest.free);
  }
});
