import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { REORDER_MS, TradeIds } from "../../../src/feeds/exchange/trade-ids.ts";
import type { TradeGap, VenueTrade } from "../../../src/feeds/exchange/venue.ts";
import { lawRuns } from "../../support/law-runs.ts";

type Sample = Pick<VenueTrade, "id" | "serial" | "at">;

function tradeOf({ id, serial, at }: Sample): VenueTrade {
  return { id, serial, at, side: "buy", price: "1", amount: "1", value: "1" };
}

/** A trade whose ids are consecutive, at a time that grows with them. */
const at = (number: number, timeMs = number) => tradeOf({ id: BigInt(number), serial: number, at: timeMs });
/** A trade whose ids only grow, and are larger than a double can hold. */
const sparse = (number: number, timeMs = number) =>
  tradeOf({ id: 11_000_000_000_000_000n + BigInt(number), serial: undefined, at: timeMs });

function idsOf() {
  const gaps: TradeGap[] = [];
  const ids = new TradeIds((gap) => gaps.push(gap));
  const accept = (trade: VenueTrade, monoMs = 0) => ids.accept(trade, monoMs);
  return { ids, gaps, accept };
}

describe("consecutive ids", () => {
  test("each trade is new once, in any order", () => {
    const { accept, gaps } = idsOf();
    const verdicts = [5, 6, 9, 8, 9, 6, 8, 7, 7, 10].map((number) => accept(at(number)));
    const repeated = "repeated";
    expect(verdicts).toEqual([
      "new",
      "new",
      "new",
      "new",
      repeated,
      repeated,
      repeated,
      "new",
      repeated,
      "new",
    ]);
    expect(gaps).toMatchObject([{ afterId: 6n, beforeId: 9n, sinceMs: 6, untilMs: 9, missing: 0 }]);
  });

  test("a jump is a gap until its trades have arrived or were requested", () => {
    const { ids, accept, gaps } = idsOf();
    accept(at(1));
    accept(at(5));
    const [gap] = gaps;
    if (!gap) throw new Error("no gap was opened");
    expect([gap.missing, ids.isOpen(gap)]).toEqual([3, true]);
    accept(at(3));
    expect(gap.missing).toBe(2);
    expect(
      ids
        .fill(
          gap,
          [4, 1, 3, 2, 5, 6].map((number) => at(number)),
        )
        .map(({ id }) => id),
    ).toEqual([2n, 4n]);
    expect(gap.missing).toBe(0);
    expect(ids.fill(gap, [at(2)])).toEqual([]);
    ids.close(gap);
    expect([accept(at(4)), ids.isOpen(gap), ids.fill(gap, [at(4)])]).toEqual(["repeated", false, []]);
  });

  test("one absurd id does not silence the pair, and its gap is not requested", () => {
    const { accept, gaps } = idsOf();
    accept(at(1));
    expect(accept(at(9_000_000_000, 2))).toBe("restarted");
    expect([accept(at(2, 3)), accept(at(3, 4)), accept(at(2, 3))]).toEqual(["restarted", "new", "repeated"]);
    expect(gaps).toEqual([]);
  });

  test.each([
    ["a lower id at a later time", 1],
    ["a jump that is too large", 100_006],
  ])("after each restart by %s, the gaps before are closed, and new ones open", (_how, next) => {
    const { ids, accept, gaps } = idsOf();
    for (const round of [1, 2]) {
      accept(at(1, 20 * round));
      accept(at(5, 20 * round + 1));
      const gap = gaps.at(-1);
      if (!gap) throw new Error("no gap was opened");
      expect([gaps.length, ids.isOpen(gap)]).toEqual([round, true]);
      expect(accept(at(next, 20 * round + 2))).toBe("restarted");
      expect(ids.isOpen(gap)).toBe(false);
      expect(ids.fill(gap, [at(3)])).toEqual([]);
      if (next !== 1) accept(at(1, 20 * round + 3));
    }
  });

  test("a jump of a hundred thousand is a gap, and one more is a restart", () => {
    for (const [to, verdict] of [
      [100_001, "new"],
      [100_002, "restarted"],
    ] as const) {
      const { accept } = idsOf();
      accept(at(1));
      expect(accept(at(to))).toBe(verdict);
    }
  });

  test("a number that does not grow with the id is a restart", () => {
    const { accept } = idsOf();
    accept(tradeOf({ id: 1n, serial: 7, at: 1 }));
    expect(accept(tradeOf({ id: 2n, serial: 7, at: 2 }))).toBe("restarted");
  });
});

describe("ids with gaps by design", () => {
  test("are new once, and in another order only for a second", () => {
    const { accept, gaps } = idsOf();
    expect([sparse(10), sparse(20), sparse(15), sparse(15), sparse(20)].map((one) => accept(one))).toEqual([
      "new",
      "new",
      "new",
      "repeated",
      "repeated",
    ]);
    accept(sparse(30), REORDER_MS + 1);
    expect(accept(sparse(17), REORDER_MS + 1)).toBe("repeated");
    expect(accept(sparse(25), REORDER_MS + 1)).toBe("new");
    expect(gaps).toEqual([]);
  });

  test("may have a gap wherever the connection was interrupted, and nowhere else", () => {
    const { ids, accept, gaps } = idsOf();
    ids.interrupt();
    accept(sparse(10));
    expect(gaps).toEqual([]);
    ids.interrupt();
    accept(sparse(20));
    accept(sparse(30));
    expect(gaps).toMatchObject([{ afterId: sparse(10).id, beforeId: sparse(20).id, missing: undefined }]);
    const [gap] = gaps;
    if (!gap) throw new Error("no gap was opened");
    // It stays open for as long as the request takes.
    accept(sparse(40), 50 * REORDER_MS);
    expect(ids.fill(gap, [sparse(10), sparse(12), sparse(20)])).toEqual([sparse(12)]);
  });
});

test("whatever is repeated, reordered, dropped and requested, each trade is new exactly once", () => {
  const script = fc.record({
    isConsecutive: fc.boolean(),
    steps: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 60 }),
    /** Which trades the stream drops, and where it is interrupted for that. */
    drops: fc.array(fc.nat({ max: 4 }), { minLength: 60, maxLength: 60 }),
    /** How far each trade is late, in places. */
    delays: fc.array(fc.nat({ max: 3 }), { minLength: 60, maxLength: 60 }),
    repeats: fc.array(fc.nat({ max: 2 }), { minLength: 60, maxLength: 60 }),
  });
  fc.assert(
    fc.property(script, ({ isConsecutive, steps, drops, delays, repeats }) => {
      const { ids, gaps } = idsOf();
      let number = 0;
      const all = steps.map((step, index) => {
        number += isConsecutive ? 1 : step;
        // Some share their time.
        return (isConsecutive ? at : sparse)(number, Math.floor(index / 3));
      });
      // The first and the last arrive, so that all that is missing lies between two trades.
      const isDropped = (index: number) => index > 0 && index < all.length - 1 && drops[index] === 0;
      const sent = all.flatMap((trade, index) => (isDropped(index) ? [] : [{ trade, index }]));
      const order = isConsecutive
        ? sent.toSorted(
            (one, two) => one.index + (delays[one.index] ?? 0) - two.index - (delays[two.index] ?? 0),
          )
        : sent;
      const first = order.findIndex(({ index }) => index === 0);
      const arriving = [...order.slice(first), ...order.slice(0, first)];
      const seen: bigint[] = [];
      for (const { trade, index } of arriving) {
        if (!isConsecutive && isDropped(index - 1)) ids.interrupt();
        for (let copy = 0; copy <= (repeats[index] ?? 0); copy++)
          if (ids.accept(trade, 0) !== "repeated") seen.push(trade.id);
      }
      for (const gap of gaps) for (const { id } of ids.fill(gap, all)) seen.push(id);
      expect(seen.toSorted((one, two) => (one < two ? -1 : 1))).toEqual(all.map(({ id }) => id));
    }),
    lawRuns(300),
  );
});
