import { expect, test } from "vitest";
import { checkpointOf } from "../../src/app/data/engine-checkpoints.ts";
import { TrendEngine } from "../../src/engine/index.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { address, clock, HOUR, MINUTE, profile, SECOND, START, trade } from "./trend-kit.ts";

test("tokens that traded once are forgotten an hour later", () => {
  const engine = new TrendEngine();
  let most = 0;
  for (let n = 0; n < (IS_SOAK ? 12_000 : 4_000); n++) {
    const at = START + n * SECOND;
    if (IS_SOAK || n % 5 === 0) engine.accept(clock(at));
    engine.accept(trade(at + 1, address(n)));
    most = Math.max(most, engine.tokenCount);
  }
  expect(most).toBeGreaterThan(3_500);
  expect(most).toBeLessThan(3_800);
});

test("the number of tokens is bounded even within a minute; the least recently active are dropped first", () => {
  const engine = new TrendEngine({ settings: { maxTokens: 1_000 } });
  engine.accept(clock(START));
  const count = IS_SOAK ? 20_000 : 6_000;
  let most = 0;
  for (let n = 0; n < count; n++) {
    engine.accept(trade(START + n, address(n)));
    most = Math.max(most, engine.tokenCount);
  }
  expect(most).toBeLessThanOrEqual(1_101);
  engine.accept(clock(START + MINUTE));
  expect(JSON.stringify(checkpointOf(engine))).toContain(address(count - 1));
  expect(JSON.stringify(checkpointOf(engine))).not.toContain(address(3));
});

test("a token with a history is forgotten after six hours of silence", () => {
  const engine = new TrendEngine();
  engine.accept(clock(START));
  for (let n = 0; n < 9; n++) engine.accept(trade(START + n, address(1)));
  for (let at = START; at <= START + 6 * HOUR; at += MINUTE) engine.accept(clock(at));
  expect(engine.tokenCount).toBe(1);
  engine.accept(clock(START + 6 * HOUR + MINUTE));
  expect(engine.tokenCount).toBe(0);
  expect(engine.nextChangeAtMs).toBeLessThanOrEqual(engine.clockMs);
  engine.snapshot();
  expect(engine.nextChangeAtMs).toBe(Number.POSITIVE_INFINITY);
});

test("a forgotten token that trades again is stored again", () => {
  const engine = new TrendEngine();
  for (const at of [START, START + 2 * HOUR]) {
    engine.accept(clock(at));
    expect(engine.tokenCount).toBe(0);
    for (const second of [0, 1]) engine.accept(trade(at + second, address(1)));
    expect(engine.tokenCount).toBe(1);
  }
});

test("a profile outlives its silent token, up to the maximum number of profiles", () => {
  const engine = new TrendEngine({ settings: { maxProfiles: 2 } });
  engine.accept(clock(START));
  for (const n of [1, 2, 3]) engine.accept(profile(START, address(n), { symbol: `KEPT${n}` }));
  engine.accept(clock(START + 8 * HOUR));
  const at = START + 8 * HOUR;
  for (const n of [1, 3]) {
    engine.accept({
      kind: "listing",
      at: at + 1,
      group: "bsc",
      pool: `p${n}`,
      token: address(n),
      liquidity: "1",
    });
  }
  engine.accept(clock(at + SECOND));
  expect(engine.snapshot().newest.bsc.map(({ token }) => token.symbol)).toEqual(["0x0000…0001", "KEPT3"]);
});

test("the number of wallets per token is bounded", () => {
  const engine = new TrendEngine();
  engine.accept(clock(START));
  for (let n = 0; n < 5_000; n++) engine.accept(trade(START + n, address(1)));
  const size = JSON.stringify(checkpointOf(engine)).length;
  for (let n = 5_000; n < 20_000; n++) {
    if (n % 1_000 === 0) engine.accept(clock(START + n));
    engine.accept(trade(START + n, address(1)));
  }
  expect(JSON.stringify(checkpointOf(engine)).length).toBeLessThan(size * 1.5);
});
