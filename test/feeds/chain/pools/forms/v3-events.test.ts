import { expect, test } from "vitest";
import type { MarketEvent } from "../../../../../src/base/market/index.ts";
import { shareOf } from "../../../../support/law-runs.ts";
import { Collector, eventsOf } from "../../market/collect.ts";
import { E18, VAULT } from "../../market/exchange.ts";
import { FORMS, FULL, needPackage, openPool } from "../../market/range-pool.ts";
import { describeOnAnvil } from "../../nodes/anvil.ts";
import { FaultyNode } from "../../nodes/faulty-node.ts";
import { wallet } from "../../nodes/test-chain.ts";

const FACTORIES = ["v3Factory", "cakeFactory", "algebraFactory", "integralFactory"] as const;

describeOnAnvil("V3 pools on a real EVM", () => {
  test.for(shareOf(FACTORIES))(
    "[exact] %s: listing, swaps both ways, liquidity burned and collected, match the tokens' own balances",
    async (factory, { skip }) => {
      needPackage(factory, skip);
      const { exchange, pool } = await openPool(factory);
      await using chain = exchange.chain;
      const { step } = FORMS[factory];
      const width = Math.floor(FULL / 4 / step) * step;
      await pool.list(width, 5_000n * E18, { symbol: "RNG", name: "Range" });
      await pool.swap(wallet(1), "buy", 3n * E18 + 7n);
      await pool.swap(wallet(2), "sell", 123_456_789_012_345_678n);
      await pool.swap(wallet(2), "buy", 11n);
      await pool.burn(width, 2_000n * E18);
      await pool.collect(width);
      await pool.swap(wallet(1), "sell", 5n * E18);
      expect(await eventsOf(pool)).toEqual(pool.events);
      const shared = BigInt(await chain.read(exchange.coin, "token", "balanceOf", [VAULT]));
      expect(shared > 0n).toBe(factory === "algebraFactory");
    },
  );

  test.for(shareOf(FACTORIES.toReversed()))(
    "[depth] %s: coins far from the price do not count as liquidity; coins added and burned in range do, by the contract's own liquidity",
    async (factory, { skip }) => {
      needPackage(factory, skip);
      const { exchange, pool } = await openPool(factory);
      await using _ = exchange.chain;
      const { step } = FORMS[factory];
      await pool.list(4_000 * step, 500n * E18, { symbol: "RNG", name: "Range" });
      await pool.add(100 * step, 200 * step, 5_000n * E18);
      const [, listing, added] = pool.events;
      const before = listing?.kind === "listing" ? Number(listing.liquidity) : 0;
      const after = added?.kind === "liquidity" ? Number(added.usd) : Number.POSITIVE_INFINITY;
      expect(before).toBeGreaterThan(500_000);
      expect(after / before).toBeCloseTo(1, 3);
      await pool.add(-10 * step, 10 * step, 2_000n * E18);
      await pool.swap(wallet(1), "buy", 3n * E18);
      await pool.swap(wallet(2), "sell", 2n * E18);
      await pool.burn(10 * step, 2_000n * E18);
      await pool.swap(wallet(1), "buy", E18);
      expect(await eventsOf(pool)).toEqual(pool.events);
    },
  );

  test.for(
    shareOf([
      ["algebraFactory", "remember", 1_000],
      ["v3Factory", "remember", 1_000],
      ["integralFactory", "remember", 1_000],
      ["algebraFactory", "have forgotten", 4],
      ["cakeFactory", "have forgotten", 4],
    ] as const),
  )(
    "[before] %s: an existing pool is identified by its factory, and its liquidity is exact if nodes %s its past",
    async ([factory, memory, blocks], { skip }) => {
      needPackage(factory, skip);
      const { exchange, pool } = await openPool(factory);
      await using chain = exchange.chain;
      await using node = await new FaultyNode(chain.url).start();
      node.fault = { kind: "forgets", blocks };
      await pool.list(6_000, 5_000n * E18, { symbol: "RNG", name: "Range" });
      await chain.mine(300);
      const before = pool.events.length;
      await pool.swap(wallet(1), "buy", 3n * E18);
      await pool.swap(wallet(2), "sell", E18);
      for (let block = 0; block < 10; block++) await chain.mine();
      const beginMs = chain.nextAt * 1_000;
      const { network } = pool;
      await using collector = new Collector({ network, urls: [node.url], backfillMs: 60_000 });
      for (let block = 0; block < 4; block++) await chain.mine();
      await collector.reached(beginMs);
      await pool.swap(wallet(1), "buy", 2n * E18);
      const untilMs = chain.nextAt * 1_000;
      for (let block = 0; block < 4; block++) await chain.mine();
      await collector.reached(untilMs);
      const events = collector.facts.filter(({ kind }) => kind !== "profile");
      const expected = pool.events.slice(before);
      // Before the block whose state was available, that state's liquidity counts.
      const known = expected.findLast((event) => event.kind === "liquidity" && event.at < beginMs);
      const usd = known?.kind === "liquidity" ? known.usd : "";
      const early = (event: MarketEvent) =>
        memory === "have forgotten" && event.kind === "liquidity" && event.at < beginMs;
      expect(events).toEqual(expected.map((event) => (early(event) ? { ...event, usd } : event)));
      expect(events.map(({ kind }) => kind)).toEqual([
        "liquidity",
        "trade",
        "liquidity",
        "trade",
        "liquidity",
        "trade",
      ]);
    },
  );
});
