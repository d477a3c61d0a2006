import { expect, test } from "vitest";
import {
  PositionState,
  readPositions,
} from "../../../../../../src/feeds/chain/pools/forms/positions/position-state.ts";
import { sqrtPriceAt } from "../../../../../../src/feeds/chain/pools/forms/positions/ticks.ts";

/** A position: its ends and its liquidity. */
type Position = readonly [lower: number, upper: number, liquidity: bigint];

const FAR = 30_000;

function netsOf(positions: readonly Position[]): Map<number, bigint> {
  const nets = new Map<number, bigint>();
  for (const [lower, upper, liquidity] of positions) {
    nets.set(lower, (nets.get(lower) ?? 0n) + liquidity);
    nets.set(upper, (nets.get(upper) ?? 0n) - liquidity);
  }
  return nets;
}

/** Reads a pool at tick 0 with these positions, as from the chain. */
function readPool(positions: readonly Position[]): PositionState {
  const nets = netsOf(positions);
  const liquidity = positions.reduce(
    (sum, [lower, upper, added]) => (lower <= 0 && upper > 0 ? sum + added : sum),
    0n,
  );
  const source = {
    // biome-ignore lint/correctness/useYield: it makes no calls.
    *range() {
      return { sqrtPriceX96: sqrtPriceAt(0), tick: 0, liquidity };
    },
    *bitmaps(words: readonly number[]) {
      const bits = new Map<number, bigint>();
      for (const tick of nets.keys()) {
        const word = Math.floor(tick / 256);
        bits.set(word, (bits.get(word) ?? 0n) | (1n << BigInt(tick - word * 256)));
      }
      return words.map((word) => bits.get(word) ?? 0n);
    },
    *nets(ticks: readonly number[]) {
      return ticks.map((tick) => nets.get(tick));
    },
  };
  const step = readPositions(source, 1, 10).next();
  if (!step.done) throw new Error("the inquiry is not finished");
  return step.value;
}

const move = ([lower, upper, liquidity]: Position) =>
  ({ kind: "position", form: "positions", lower, upper, liquidity }) as const;

/** A position of one tick on either side of the price. */
const NARROW: Position = [-1, 1, 10n ** 24n];
const narrow = readPool([NARROW]).depth(1) ?? 0n;

test("[depth] a position that was never read adds nothing when it is removed", () => {
  expect(narrow).toBe((10n ** 24n * (sqrtPriceAt(0) - sqrtPriceAt(-1))) >> 96n);
  const far: Position = [-FAR - 1, -FAR, 10n ** 24n];
  const pool = readPool([NARROW, far]);
  expect(pool.depth(1)).toBe(narrow);
  pool.apply(move([-FAR - 1, -FAR, -(10n ** 24n)]), 11);
  expect(pool.depth(1)).toBe(narrow);
});

test("[depth] a narrow position at the end of the read ticks does not count as if it had no end", () => {
  const pool = readPool([NARROW, [-28_000, -27_700, 10n ** 24n], [27_700, 28_000, 10n ** 24n]]);
  for (const side of [0, 1] as const) expect(Number(pool.depth(side)) / Number(narrow)).toBeLessThan(60);
});

test("[depth] dust at many ticks does not hide the ends of a position", () => {
  const wide: Position = [-600, 600, 10n ** 24n];
  const dust = Array.from({ length: 600 }, (_, index): Position => [-index - 1, index + 1, 1n]);
  const honest = Number(readPool([wide]).depth(1));
  const pool = readPool([wide, ...dust]);
  expect(Number(pool.depth(1))).toBeLessThanOrEqual(honest * 1.001);
  expect(Number(pool.depth(1))).toBeGreaterThan(honest / 2);
  // The price leaves the ticks that were read: the pool is read again.
  const range = { sqrtPriceX96: sqrtPriceAt(-300), tick: -300, liquidity: 10n ** 24n };
  expect(pool.isOutdated).toBe(false);
  pool.apply({ kind: "swap", form: "positions", amount0: 1n, amount1: -1n, range }, 11);
  expect(pool.isOutdated).toBe(true);
});

test("[depth] dust at more ticks than are followed displaces no position near the price", () => {
  const created = new PositionState({
    range: { sqrtPriceX96: sqrtPriceAt(0), tick: 0, liquidity: 0n },
    nets: new Map(),
    atBlock: -1,
  });
  created.apply(move([-600, 600, 10n ** 24n]), 1);
  const before = Number(created.depth(1));
  for (let index = 1; index < 5_100; index++) created.apply(move([-10 * index, 10 * index, 1n]), 1);
  expect(Number(created.depth(1)) / before).toBeCloseTo(1, 6);
  // Liquidity beyond the known ticks cannot be removed from them.
  created.apply(move([-50_990, 50_990, -1n]), 2);
  expect(Number(created.depth(1)) / before).toBeCloseTo(1, 6);
});
