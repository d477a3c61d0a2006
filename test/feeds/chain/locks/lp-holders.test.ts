import { expect, test } from "vitest";
import { BURN_ADDRESSES, isNews, LpHolders, NOBODY } from "../../../../src/feeds/chain/locks/lp-holders.ts";

const PAIR = `0x${"a1".repeat(20)}`;
const MAKER = `0x${"b2".repeat(20)}`;
const LOCKER = `0x${"c3".repeat(20)}`;
const FEE_RECEIVER = `0x${"d4".repeat(20)}`;
const DEAD = "0x000000000000000000000000000000000000dead";
const [NOW, LATER, MUCH_LATER] = [1_000, 2_000, 3_000];

/** A pair with 1,000 units of its maker, beside the 1,000 that nobody ever gets. */
function minted(): LpHolders {
  const holders = new LpHolders(PAIR, new Set([LOCKER]));
  holders.transfer({ from: NOBODY, to: NOBODY, units: 1_000n }, NOW);
  move(holders, NOBODY, MAKER, 1_000n);
  return holders;
}

function move(holders: LpHolders, from: string, to: string, units: bigint, atMs = NOW): void {
  holders.transfer({ from, to, units }, atMs);
}

function locked(untilMs: number, id: bigint | null = null, units = 1_000n): LpHolders {
  const holders = minted();
  move(holders, MAKER, LOCKER, units);
  holders.lock(LOCKER, { id, untilMs, units });
  return holders;
}

test("nothing is known before the first LP tokens, and those of their maker are free", () => {
  expect(new LpHolders(PAIR, new Set()).shares).toBeUndefined();
  expect(minted().shares).toEqual({ burned: 0, held: [] });
});

test.each([...BURN_ADDRESSES])("what its owner sends to %s is burned", (address) => {
  const holders = minted();
  move(holders, MAKER, address, 400n);
  expect(holders.shares).toEqual({ burned: 0.4, held: [] });
});

test("what is minted to nobody is burned, except the smallest liquidity of each pair", () => {
  const holders = minted();
  move(holders, NOBODY, NOBODY, 1_000n);
  expect(holders.shares).toEqual({ burned: 0.5, held: [] });
});

test("a removal of liquidity is no burn, and burned shares grow when others leave", () => {
  const holders = minted();
  move(holders, MAKER, DEAD, 500n);
  move(holders, MAKER, PAIR, 250n);
  move(holders, PAIR, NOBODY, 250n);
  expect(holders.shares?.burned).toBeCloseTo(2 / 3, 5);
});

test("a pair whose liquidity was removed completely has nothing burned", () => {
  const holders = minted();
  move(holders, MAKER, PAIR, 1_000n);
  move(holders, PAIR, NOBODY, 1_000n);
  expect(holders.shares).toEqual({ burned: 0, held: [] });
});

test("a locker's share has no term until the locker reports it, and its fee is free", () => {
  const holders = minted();
  move(holders, MAKER, LOCKER, 1_000n);
  expect(holders.shares?.held).toEqual([{ share: 1, until: null }]);
  move(holders, LOCKER, FEE_RECEIVER, 10n);
  holders.lock(LOCKER, { id: null, untilMs: LATER, units: 990n });
  expect(holders.shares).toEqual({ burned: 0, held: [{ share: 0.99, until: LATER }] });
});

test("a fee that is minted lowers the share, and is no news while that is a percent", () => {
  const holders = locked(LATER);
  const before = holders.shares;
  move(holders, NOBODY, FEE_RECEIVER, 9n);
  expect(holders.shares && isNews(before, holders.shares)).toBe(false);
  move(holders, NOBODY, FEE_RECEIVER, 31n);
  expect(holders.shares?.held).toEqual([{ share: 0.961538, until: LATER }]);
  expect(holders.shares && isNews(before, holders.shares)).toBe(true);
});

test("a report of more than the locker got does not count", () => {
  const holders = minted();
  holders.lock(LOCKER, { id: null, untilMs: LATER, units: 1_000n });
  expect(holders.shares?.held).toEqual([]);
});

test("an extended lock has its new term, which is news", () => {
  const holders = locked(LATER, 7n);
  const before = holders.shares;
  holders.extend(LOCKER, 8n, MUCH_LATER);
  expect(holders.shares).toEqual(before);
  holders.extend(LOCKER, 7n, MUCH_LATER);
  expect(holders.shares?.held).toEqual([{ share: 1, until: MUCH_LATER }]);
  expect(holders.shares && isNews(before, holders.shares)).toBe(true);
});

test("a lock that gets a new amount and term keeps both", () => {
  const holders = locked(LATER, 7n, 500n);
  move(holders, MAKER, LOCKER, 300n);
  holders.lock(LOCKER, { id: 7n, untilMs: MUCH_LATER, units: 800n });
  expect(holders.shares?.held).toEqual([{ share: 0.8, until: MUCH_LATER }]);
});

test("a split lock has two parts of which one can be extended", () => {
  const holders = locked(LATER, 7n);
  holders.split(LOCKER, { id: 7n, left: 500n, newId: 9n, units: 400n });
  holders.split(LOCKER, { id: 7n, left: 600n, newId: 8n, units: 400n });
  expect(holders.shares?.held).toEqual([{ share: 1, until: LATER }]);
  holders.extend(LOCKER, 8n, MUCH_LATER);
  expect(holders.shares?.held).toEqual([
    { share: 0.6, until: LATER },
    { share: 0.4, until: MUCH_LATER },
  ]);
});

test("what a locker pays out was in the lock that is over, or else had no term", () => {
  const holders = locked(LATER, null, 400n);
  move(holders, MAKER, LOCKER, 300n);
  holders.lock(LOCKER, { id: null, untilMs: MUCH_LATER, units: 200n });
  move(holders, LOCKER, MAKER, 350n, LATER);
  expect(holders.shares?.held).toEqual([
    { share: 0.05, until: LATER },
    { share: 0.2, until: MUCH_LATER },
    { share: 0.1, until: null },
  ]);
  move(holders, LOCKER, MAKER, 150n, LATER);
  expect(holders.shares?.held).toEqual([{ share: 0.2, until: MUCH_LATER }]);
});

test("a pair that is met later starts with what it has then, without terms", () => {
  const holders = new LpHolders(PAIR, new Set([LOCKER]));
  const balances = new Map([
    [NOBODY, 1_000n],
    [DEAD, 500n],
    [LOCKER, 300n],
  ]);
  holders.learn(2_000n, (address) => balances.get(address) ?? 0n);
  expect(holders.shares).toEqual({ burned: 0.5, held: [{ share: 0.3, until: null }] });
});

test("dust that others lock does not displace the lock that matters", () => {
  const holders = minted();
  move(holders, MAKER, LOCKER, 1_000n);
  for (let id = 0n; id < 64n; id++) holders.lock(LOCKER, { id, untilMs: MUCH_LATER, units: 1n });
  holders.lock(LOCKER, { id: 64n, untilMs: LATER, units: 936n });
  const ofTerm = holders.shares?.held.find(({ until }) => until === LATER);
  expect(ofTerm?.share).toBeCloseTo(0.936);
});
