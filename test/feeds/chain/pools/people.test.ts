import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TRANSFER_TOPIC } from "../../../../src/feeds/chain/pools/decode.ts";
import { type Leg, type NetTrade, tradesOf } from "../../../../src/feeds/chain/pools/people.ts";
import { TransactionSwaps, withoutSandwiches } from "../../../../src/feeds/chain/pools/transaction-swaps.ts";
import { START, trade } from "../../../engine/trend-kit.ts";

const SENDER = "0x5e";
const NOBODY: ReadonlyMap<string, bigint> = new Map();

function abs(units: bigint): bigint {
  return units < 0n ? -units : units;
}

/** Much more than any leg costs. */
const DEEP = 10n ** 60n;

function leg(tokens: bigint, pool = "0xp1", price = 1n): Leg {
  return { pool, emitter: pool, tokens, dollars: abs(tokens) * price, depth: DEEP };
}

/** Returns each trade's trader and tokens. */
function summary(trades: readonly NetTrade[]): readonly (readonly [string, bigint])[] {
  return trades.map(({ trader, tokens }) => [trader, tokens]);
}

function sumOf(all: readonly { readonly tokens: bigint; readonly dollars: bigint | undefined }[]) {
  const tokens = all.reduce((sum, one) => sum + one.tokens, 0n);
  return { tokens, dollars: all.reduce((sum, one) => sum + (one.dollars ?? 0n), 0n) };
}

function salesIn<T extends { readonly tokens: bigint }>(all: readonly T[]): readonly T[] {
  return all.filter(({ tokens }) => tokens < 0n);
}

const anyLeg = fc.record({
  pool: fc.constantFrom("0xp1", "0xp2", "0xp3"),
  emitter: fc.constant("0xe1"),
  tokens: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  dollars: fc.bigInt({ min: 1n, max: 10n ** 16n }),
  depth: fc.constant(DEEP),
});
const anySigned = fc
  .tuple(anyLeg, fc.boolean())
  .map(([own, isBuy]) => ({ ...own, tokens: isBuy ? own.tokens : -own.tokens }));
const anyFlows = fc
  .array(fc.tuple(fc.constantFrom(SENDER, "0xa1", "0xa2", "0xa3"), fc.bigInt(-(10n ** 30n), 10n ** 30n)))
  .map((entries) => new Map(entries));

describe("people behind the swaps of a token in one transaction", () => {
  test("[people] the trades of swaps in one direction add up to the swaps exactly, for any participants in any order", () => {
    const order = fc.array(anyLeg, { minLength: 1, maxLength: 8 }).chain((legs) =>
      fc.record({
        legs: fc.constant(legs),
        shuffled: fc.shuffledSubarray(legs, { minLength: legs.length }),
        isBuy: fc.boolean(),
        flows: anyFlows,
      }),
    );
    fc.assert(
      fc.property(order, ({ legs, shuffled, isBuy, flows }) => {
        for (const one of [legs, shuffled]) {
          const signed = one.map((each) => ({ ...each, tokens: isBuy ? each.tokens : -each.tokens }));
          const trades = tradesOf(signed, flows, SENDER);
          expect(sumOf(trades)).toEqual(sumOf(signed));
          expect(new Set(trades.map(({ trader }) => trader)).size).toBeLessThanOrEqual(one.length);
        }
      }),
    );
  });

  test("[people] the trades of one person's buys and sells at one price add up to the difference exactly, or to nothing if the difference is within a tenth", () => {
    const one = anyLeg.map((own) => ({ ...own, dollars: own.tokens * 3n }));
    const both = fc.record({ buys: fc.array(one, { maxLength: 5 }), sells: fc.array(one, { maxLength: 5 }) });
    fc.assert(
      fc.property(both, ({ buys, sells }) => {
        const all = [...buys, ...sells.map((own) => ({ ...own, tokens: -own.tokens }))];
        const [bought, sold] = [sumOf(buys).tokens, sumOf(sells).tokens];
        const more = bought > sold ? bought : sold;
        const net = bought - sold;
        fc.pre(abs(net) * 10n !== more);
        const isKept = abs(net) * 10n > more;
        for (const own of [all, all.toReversed()])
          expect(sumOf(tradesOf(own, NOBODY, SENDER)).tokens).toBe(isKept ? net : 0n);
      }),
    );
  });

  test("[people] a swap without a price or value removes no sale, for any set of traders", () => {
    const worthless = fc.record({
      pool: fc.constant("0xown"),
      emitter: fc.constant("0xown"),
      tokens: fc.bigInt(-(10n ** 30n), 10n ** 30n),
      dollars: fc.constantFrom(undefined, 0n),
      depth: fc.constant(DEEP),
    });
    fc.assert(
      fc.property(
        fc.array(anySigned, { maxLength: 6 }),
        fc.array(worthless, { minLength: 1, maxLength: 3 }),
        anyFlows,
        (legs, more, flows) => {
          const before = salesIn(tradesOf(legs, flows, SENDER));
          for (const all of [
            [...legs, ...more],
            [...more, ...legs],
          ])
            expect(salesIn(tradesOf(all, flows, SENDER))).toEqual(before);
        },
      ),
    );
  });

  test("[people] purchases cancel sales of at most twice their dollars and a tenth, and only in pools that held those dollars", () => {
    const depths = fc.record({
      "0xp1": fc.bigInt(0n, 10n ** 17n),
      "0xp2": fc.bigInt(0n, 10n ** 16n),
      "0xp3": fc.constant(0n),
    });
    fc.assert(
      fc.property(fc.array(anySigned, { maxLength: 8 }), depths, anyFlows, (some, depthOf, flows) => {
        const legs = some.map((own) => ({ ...own, depth: depthOf[own.pool] }));
        const buys = Map.groupBy(
          legs.filter(({ tokens }) => tokens > 0n),
          ({ pool }) => pool,
        );
        const costs = [...buys].map(([pool, own]) => [sumOf(own).dollars, depthOf[pool]] as const);
        const paid = costs.reduce((sum, [cost, depth]) => (cost <= depth ? sum + cost : sum), 0n);
        const received = sumOf(salesIn(legs)).dollars;
        const counted = sumOf(salesIn(tradesOf(legs, flows, SENDER))).dollars;
        // Rounding loses up to one unit of the token for each sale, at its price.
        const lost = legs.reduce((sum, own) => sum + own.dollars / abs(own.tokens) + 1n, 0n);
        expect((received - counted - lost) * 9n).toBeLessThanOrEqual(20n * paid);
      }),
    );
  });

  test("[people] a person who sells 1,000 and buys 950 back in a pool of their own for a cent, or from a contract without a price, has sold 1,000", () => {
    const sale = leg(-1_000n, "0xp1", 100n);
    const cent: Leg = { pool: "0xown", emitter: "0xown", tokens: 950n, dollars: 1n, depth: DEEP };
    for (const gift of [cent, { ...cent, dollars: undefined }, { ...cent, dollars: 0n }]) {
      const [trade, ...others] = tradesOf([sale, gift], NOBODY, SENDER);
      expect(others).toEqual([]);
      expect(trade).toMatchObject({ trader: SENDER, pool: "0xp1", price: [100_000n, 1_000n] });
      expect(Number(trade?.tokens)).toBeCloseTo(-1_000, -1);
      expect(Number(trade?.dollars)).toBeCloseTo(100_000, -2);
    }
    // A sale for twice the cost of the purchase is arbitrage.
    const arbitrage = { ...cent, tokens: 1_000n, dollars: 50_000n };
    expect(tradesOf([sale, arbitrage], NOBODY, SENDER)).toEqual([]);
  });

  test("[people] a person who buys back from a pool that held less than the price has sold, however many swaps it takes", () => {
    const sale = leg(-1_000n, "0xp1", 100n);
    const back = (parts: bigint, depth: bigint) =>
      Array.from({ length: Number(parts) }, () => ({ ...leg(950n / parts, "0xown", 100n), depth }));
    for (const parts of [1n, 5n]) {
      const sold = [{ trader: SENDER, tokens: -1_000n, dollars: 100_000n }];
      expect(tradesOf([sale, ...back(parts, 94_999n)], NOBODY, SENDER)).toMatchObject(sold);
      expect(tradesOf([...back(parts, 0n), sale], NOBODY, SENDER)).toMatchObject(sold);
      expect(tradesOf([sale, ...back(parts, 95_000n)], NOBODY, SENDER)).toEqual([]);
    }
    // Two sellers who name themselves do not use the same depth twice.
    const two = ["0xa1", "0xa2"].flatMap((account) =>
      [sale, ...back(1n, 95_000n)].map((own) => ({ ...own, account })),
    );
    expect(sumOf(salesIn(tradesOf(two, NOBODY, SENDER))).dollars).toBe(200_000n);
  });

  test("[people] the sender is the trader if it received or gave the token, otherwise the address whose balance changed most", () => {
    const flows = (...entries: [string, bigint][]) => new Map(entries);
    const tradersOf = (own: readonly Leg[], all: ReadonlyMap<string, bigint>) =>
      summary(tradesOf(own, all, SENDER));
    expect(tradersOf([leg(100n)], NOBODY)).toEqual([[SENDER, 100n]]);
    expect(tradersOf([leg(100n)], flows([SENDER, 50n], ["0xa1", 50n]))).toEqual([[SENDER, 100n]]);
    expect(tradersOf([leg(100n)], flows(["0xa1", 95n], ["0xa2", 5n]))).toEqual([["0xa1", 100n]]);
    expect(tradersOf([leg(100n)], flows(["0xa1", 40n], ["0xa2", 60n]))).toEqual([["0xa2", 100n]]);
    expect(tradersOf([leg(-95n)], flows(["0xa1", -100n], ["0xa2", 5n]))).toEqual([["0xa1", -95n]]);
    // A relayer that is paid with a little of the token is no trader.
    expect(tradersOf([leg(100n)], flows([SENDER, 1n], ["0xa1", 99n]))).toEqual([["0xa1", 100n]]);
  });

  test("[people] one swap is one person, whatever transfers a hostile token's contract logs", () => {
    const crowd = new Map(Array.from({ length: 40 }, (_, index) => [`0xa${index}`, 100n]));
    expect(tradesOf([leg(100n)], crowd, SENDER)).toHaveLength(1);
    expect(tradesOf([leg(4_000n)], crowd, SENDER)).toHaveLength(1);
    const five = Array.from({ length: 5 }, () => leg(100n));
    expect(tradesOf(five, crowd, SENDER)).toHaveLength(5);
    // Many small recipients of one large purchase are no crowd either.
    const dust = new Map(Array.from({ length: 40 }, (_, index) => [`0xa${index}`, 1n]));
    expect(summary(tradesOf(five, dust, SENDER))).toEqual([["0xa0", 500n]]);
    const thousands = new Map(Array.from({ length: 5_000 }, (_, index) => [`0xa${index}`, 100n]));
    expect(tradesOf([...five, leg(-200n)], thousands, SENDER)).toHaveLength(6);
    // This needs no money: the purchases are sold in the same transaction.
    expect(tradesOf([...five, leg(-500n)], new Map([...crowd, ["0xb1", -500n]]), SENDER)).toEqual([]);
  });

  test("[people] the address that the pool names is the person, unless it is a router that keeps nothing", () => {
    const by = (account: string, tokens: bigint): Leg => ({ ...leg(tokens), account });
    const both = [by("0xa1", 60n), by("0xa2", -40n)];
    expect(summary(tradesOf(both, NOBODY, SENDER))).toEqual([
      ["0xa1", 60n],
      ["0xa2", -40n],
    ]);
    const flows = new Map([
      ["0xa1", 57n],
      ["0xa2", -40n],
      [SENDER, -17n],
    ]);
    expect(summary(tradesOf(both, flows, SENDER))).toEqual([
      ["0xa1", 60n],
      ["0xa2", -40n],
    ]);
    expect(summary(tradesOf([by("0xc1", 60n)], new Map([["0xa1", 60n]]), SENDER))).toEqual([["0xa1", 60n]]);
  });

  test("[people] a part at another price is a trade in its own pool, so a trader's own pool affects no other pool's price or volume", () => {
    const parts = [leg(100n, "0xp1"), leg(99n, "0xown", 50n), leg(50n, "0xp2")];
    expect(tradesOf(parts, NOBODY, SENDER)).toEqual([
      { trader: SENDER, pool: "0xp1", tokens: 150n, dollars: 150n, price: [100n, 100n] },
      { trader: SENDER, pool: "0xown", tokens: 99n, dollars: 4_950n, price: [4_950n, 99n] },
    ]);
    // Near the price, it adds to the volume and not to the price.
    const near = [leg(100_000n, "0xp1", 100n), leg(90_000n, "0xown", 109n)];
    expect(tradesOf(near, NOBODY, SENDER)).toEqual([
      {
        trader: SENDER,
        pool: "0xp1",
        tokens: 190_000n,
        dollars: 19_810_000n,
        price: [10_000_000n, 100_000n],
      },
    ]);
  });
});

/** A word for an address of few digits. */
function word(address: string): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}

function account(address: string): string {
  return `0x${address.slice(2).padStart(40, "0")}`;
}

describe("people by a token's transfers", () => {
  const TOKEN = {
    address: account("0xaa"),
    decimals: 18,
    symbol: "T",
    name: "T",
    introducedAtMs: 0,
    isLaunched: false,
  };
  const at = { logIndex: 0, transactionHash: "0x01", origin: account(SENDER) };

  function transfers(...all: readonly (readonly [string, string, bigint])[]) {
    return all.map(([from, to, units]) => {
      const topics = [TRANSFER_TOPIC, word(from), word(to)];
      return { ...at, address: TOKEN.address, topics, data: word(`0x${units.toString(16)}`) };
    });
  }

  function swapsOf(...legs: readonly Leg[]): TransactionSwaps {
    const swaps = new TransactionSwaps({ ...at, address: "0x", topics: [], data: "0x" });
    for (const one of legs) {
      swaps.addPool(one.pool);
      swaps.addDepth(one.pool, () => one.depth);
      swaps.add(TOKEN, one);
    }
    return swaps;
  }

  const isPool = (address: string) => address === account("0xb9");

  test("[people] a route that ends in a pool that is not followed is no purchase; a route that starts there is a sale", () => {
    const route = (tokens: bigint) => {
      const swaps = swapsOf(leg(tokens, account("0xb1")));
      swaps.addPool(account("0xb2"));
      swaps.addUnfollowed(account("0xb2"));
      return swaps;
    };
    const out = transfers(["0xb1", "0xc1", 100n], ["0xc1", "0xb2", 100n]);
    expect(route(100n).trades(out, isPool)).toEqual([]);
    // Half of it is for the sender.
    const half = transfers(["0xb1", "0xc1", 100n], ["0xc1", "0xb2", 50n], ["0xc1", SENDER, 50n]);
    expect(summary(route(100n).trades(half, isPool))).toEqual([[account(SENDER), 50n]]);
    // The apparent pool may be the seller's own contract, filled before.
    const into = transfers(["0xb2", "0xc1", 100n], ["0xc1", "0xb1", 100n]);
    expect(summary(route(-100n).trades(into, isPool))).toEqual([[account(SENDER), -100n]]);
  });

  test("[people] a route from one pool of a contract to another, which is not followed, is no purchase", () => {
    const swaps = swapsOf(leg(100n, account("0xb1")));
    swaps.addUnfollowed(account("0xb1"));
    expect(swaps.trades([], isPool)).toEqual([]);
    // A swap of another token there changes nothing.
    expect(summary(swaps.trades(transfers(["0xb1", SENDER, 100n]), isPool))).toEqual([
      [account(SENDER), 100n],
    ]);
  });

  test("[people] a pool's depth is its depth before the transaction, whatever is added meanwhile", () => {
    const swaps = swapsOf(leg(-1_000n, account("0xb1")));
    for (const depth of [999n, DEEP]) swaps.addDepth(account("0xb2"), () => depth);
    swaps.add(TOKEN, leg(1_000n, account("0xb2")));
    expect(summary(swaps.trades([], isPool))).toEqual([[account(SENDER), -1_000n]]);
  });

  test("[people] pools, burned tokens and the token's own contract do not count as people, and other tokens' transfers are ignored", () => {
    const own = transfers(
      ["0xb1", "0xdead", 0n],
      ["0xb1", `0x${"0".repeat(36)}dead`, 90n],
      ["0xb1", "0xaa", 80n],
      ["0xb1", "0xb9", 70n],
      ["0xb1", "0x0", 60n],
      ["0xb1", "0xc1", 10n],
    );
    const [other] = transfers(["0xb1", "0xc2", 95n]);
    const all = [...own, ...(other ? [{ ...other, address: account("0xab") }] : [])];
    const [trade] = swapsOf(leg(400n, account("0xb1"))).trades(all, isPool);
    expect(trade?.trader).toBe(account("0xc1"));
  });
});

test("[people] a person who sells in one pool and buys back in another within the same block has sold; in the same pool it is a sandwich", () => {
  const both = (pool: string) => [
    trade(START, "0xaa", { pool: "0xp1", side: "sell", trader: "0xa1" }),
    trade(START, "0xaa", { pool: "0xp1", trader: "0xa2" }),
    trade(START, "0xaa", { pool, trader: "0xa1" }),
  ];
  expect(withoutSandwiches(both("0xp1"))).toMatchObject([{ trader: "0xa2" }]);
  expect(withoutSandwiches(both("0xown"))).toEqual(both("0xown"));
});
